// SPDX-License-Identifier: BSD-3-Clause
// Contract: another process's memory.
#define CHECK_NO_MAIN
#include "contract.hpp"
#include "peer.hpp"

namespace contract {
namespace {

using action = peer_request::action;
constexpr std::size_t size = 3 << 20;

TEST_CASE(another_process_reads_and_writes_an_allocation) {
  const scoped_stream s;
  const memory m(memory_kind::device, size);
  write(m.data(), pattern(size, 1), s);
  const auto handle = subject().ipc_export(describe(m.data() + 77));
  if (handle.error() == status::not_supported) return;
  REQUIRE(handle.has_value());
  peer other;
  REQUIRE(other.ask({action::open, second_device(), 0, 0, *handle}).outcome == status::ok);
  CHECK(other.ask({action::check, 0, 1, size, {}}).same);
  CHECK_OK(other.ask({action::write, 0, 2, size - 5, {}}).outcome);
  CHECK(read(m.data(), size - 5, s) == pattern(size - 5, 2));
  CHECK_OK(other.ask({action::close, second_device(), 0, 0, {}}).outcome);
}

TEST_CASE(an_opened_allocation_is_device_memory_until_closed) {
  const scoped_stream s;
  peer other;
  const peer_answer made = other.ask({action::make, 0, 5, size, {}});
  if (made.outcome == status::not_supported) return;
  REQUIRE(made.outcome == status::ok);
  const auto base = subject().ipc_open(0, made.handle);
  REQUIRE(base.has_value());
  CHECK(read(*base, size, s) == pattern(size, 5));
  const pointer_info info = describe(static_cast<char*>(*base) + 1000);
  CHECK_EQ(info.kind, memory_kind::device);
  CHECK_EQ(info.base, reinterpret_cast<std::uintptr_t>(*base));
  CHECK_OK(subject().ipc_close(0, *base));
  CHECK_EQ(kind_of(*base), memory_kind::host);
  CHECK_OK(other.ask({action::drop, 0, 0, 0, {}}).outcome);
}

TEST_CASE(a_new_allocation_at_the_same_address_has_another_handle) {
  peer other;
  for (unsigned round = 0; round < 4; ++round) {
    const scoped_stream s;
    const memory m(memory_kind::device, size);
    write(m.data(), pattern(size, round), s);
    const auto handle = subject().ipc_export(describe(m.data()));
    if (handle.error() == status::not_supported) return;
    REQUIRE(other.ask({action::open, 0, 0, 0, *handle}).outcome == status::ok);
    CHECK(other.ask({action::check, 0, round, size, {}}).same);
    CHECK_OK(other.ask({action::close, 0, 0, 0, {}}).outcome);
  }
}

TEST_CASE(what_is_gone_or_not_ours_cannot_be_exported_or_opened) {
  const memory pinned(memory_kind::pinned, 100);
  CHECK_EQ(error_of(subject().ipc_export(describe(pinned.data()))), status::not_supported);
  CHECK_EQ(error_of(subject().ipc_export({})), status::not_supported);
  if (!subject_is_emulated()) return;  // vendors differ here
  peer other;
  const peer_answer made = other.ask({action::make, 0, 5, size, {}});
  REQUIRE(made.outcome == status::ok);
  const auto base = subject().ipc_open(0, made.handle);
  REQUIRE(base.has_value());
  CHECK_EQ(error_of(subject().ipc_export(describe(*base))), status::not_supported);
  CHECK_OK(subject().ipc_close(0, *base));
  CHECK_OK(other.ask({action::drop, 0, 0, 0, {}}).outcome);
  CHECK_EQ(error_of(subject().ipc_open(0, made.handle)), status::not_supported);
  const peer_answer again = other.ask({action::make, 0, 6, size, {}});
  CHECK_EQ(error_of(subject().ipc_open(0, made.handle)), status::not_supported);
  other.kill();
  CHECK_EQ(error_of(subject().ipc_open(0, again.handle)), status::not_supported);
}

TEST_CASE(nothing_is_opened_twice) {
  if (!subject_is_emulated()) return;  // vendors differ here
  check::expect_log("memory is registered or opened already");
  peer other;
  const auto made = other.ask({action::make, 0, 5, size, {}});
  const auto base = subject().ipc_open(0, made.handle);
  REQUIRE(base.has_value());
  CHECK_EQ(error_of(subject().ipc_open(0, made.handle)), status::device_error);
  CHECK_OK(subject().ipc_close(0, *base));
}

// Both may be open (CUDA 13), or the vendor refuses. The emulated device refuses, so that tests
// find code that keeps a mapping for nothing.
TEST_CASE(what_is_made_where_a_former_one_is_open_opens_or_is_refused) {
  const scoped_stream s;
  peer other;
  const auto make = [&](unsigned seed, std::uint64_t bytes) {
    CHECK_OK(other.ask({action::drop, 0, 0, 0, {}}).outcome);
    return other.ask({action::make, 0, seed, bytes, {}});
  };
  const peer_answer first = make(5, size);
  if (first.outcome == status::not_supported) return;
  const auto old = subject().ipc_open(0, first.handle);
  REQUIRE(old.has_value());
  unsigned seed = 6;
  for (const std::uint64_t bytes :
       {std::uint64_t{4096}, std::uint64_t{2 * size}, std::uint64_t{size}}) {
    const auto opened = subject().ipc_open(0, make(++seed, bytes).handle);
    CHECK(opened.has_value() || opened.error() == status::not_supported);
    CHECK(!opened.has_value() || !subject_is_emulated());
    if (!opened) continue;
    CHECK(read(*opened, bytes, s) == pattern(bytes, seed));
    CHECK_OK(subject().ipc_close(0, *opened));
  }
  CHECK_OK(subject().ipc_close(0, *old));
  const auto opened = subject().ipc_open(0, make(5, size).handle);
  REQUIRE(opened.has_value());
  CHECK_OK(subject().ipc_close(0, *opened));
}

}  // namespace
}  // namespace contract
