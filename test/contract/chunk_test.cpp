// SPDX-License-Identifier: BSD-3-Clause
// Contract: memory that the program mapped itself, for other processes by file descriptor.
#define CHECK_NO_MAIN
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptor_broker.hpp"
#include "contract.hpp"
#include "cuda_chunks.hpp"
#include "device/emu/emu.hpp"
#include "peer.hpp"

namespace contract {
namespace {

using action = peer_request::action;
constexpr std::size_t unit = 2 << 20;  // of CUDA's granularity

/// Chunks side by side on device 0; none where the back end has no such memory.
class chunks {
 public:
  explicit chunks(bool exports, std::size_t count = 2) : bytes_(count * unit) {
    if (!subject_is_emulated() && !on_cuda()) return;
    base_ =
        static_cast<std::uint8_t*>(subject_is_emulated() ? device::emu::reserve_chunks(0, bytes_)
                                                         : cuda_driver::reserve_chunks(bytes_));
    CHECK(base_ != nullptr);
    if (base_) map(exports);
  }
  ~chunks() {
    if (!base_) return;
    unmap();
    CHECK(subject_is_emulated() ? device::emu::unreserve_chunks(base_, bytes_)
                                : cuda_driver::unreserve_chunks(base_, bytes_));
  }
  chunks(const chunks&) = delete;
  chunks& operator=(const chunks&) = delete;

  std::uint8_t* data() const { return base_; }
  explicit operator bool() const { return base_ != nullptr; }
  /// Other memory at the same addresses.
  void map_anew() {
    unmap();
    map(true);
  }

 private:
  static bool on_cuda() { return std::strcmp(subject().name(), "cuda") == 0; }
  void map(bool exports) {
    CHECK(subject_is_emulated() ? device::emu::map_chunks(base_, exports, bytes_, unit)
                                : cuda_driver::map_chunks(base_, 0, exports, bytes_, unit));
  }
  void unmap() {
    CHECK(subject_is_emulated() ? device::emu::unmap_chunks(base_, bytes_)
                                : cuda_driver::unmap_chunks(base_, bytes_, unit));
  }

  std::size_t bytes_;
  std::uint8_t* base_ = nullptr;
};

/// Opened in this process by descriptors of its own.
class opened {
 public:
  explicit opened(std::vector<int> files)
      : files_(std::move(files)),
        bytes_(files_.size(), unit),
        base_(subject().descriptors_open(0, files_, bytes_)) {
    for (const int file : files_) ::close(file);
  }
  ~opened() {
    if (base_) CHECK_OK(subject().descriptors_close(0, *base_, bytes_));
  }
  opened(const opened&) = delete;
  opened& operator=(const opened&) = delete;
  const result<void*>& base() const { return base_; }

 private:
  std::vector<int> files_;
  std::vector<std::size_t> bytes_;
  result<void*> base_;
};

int descriptor_of(const void* address) {
  const auto file = subject().descriptor_export(describe(address));
  CHECK(file.has_value());
  return file.value_or(-1);
}

/// The descriptor of a chunk, offered to the other process.
class offered {
 public:
  explicit offered(const pointer_info& info) {
    const auto file = subject().descriptor_export(info);
    const auto offer = file ? descriptor_broker::instance().offer(*file)
                            : result<offered_descriptor>(file.error());
    CHECK(offer.has_value());
    if (offer) keeps_ = kept_offer(*offer);
  }
  device::ipc_handle handle() const {
    device::ipc_handle h{};
    std::memcpy(h.bytes, &keeps_.name(), sizeof(offered_descriptor));
    return h;
  }

 private:
  kept_offer keeps_;
};

TEST_CASE(another_process_reads_and_writes_a_chunk) {
  const scoped_stream s;
  const chunks c(true);
  if (!c) return;
  write(c.data() + unit, pattern(unit, 1), s);
  const pointer_info info = describe(c.data() + unit + 77);
  CHECK_EQ(info.kind, memory_kind::device);
  CHECK(info.is_chunk && info.exportable);
  CHECK_EQ(info.base, reinterpret_cast<std::uintptr_t>(c.data() + unit));
  CHECK_EQ(info.bytes, unit);
  CHECK_EQ(error_of(subject().ipc_export(info)), status::not_supported);
  const offered there(info);
  peer other;
  REQUIRE(other.ask({action::open_chunk, second_device(), 0, unit, there.handle()}).outcome ==
          status::ok);
  CHECK(other.ask({action::check, 0, 1, unit, {}}).same);
  CHECK_OK(other.ask({action::write, 0, 2, unit - 5, {}}).outcome);
  CHECK(read(c.data() + unit, unit - 5, s) == pattern(unit - 5, 2));
  CHECK_OK(other.ask({action::close_chunk, second_device(), 0, unit, {}}).outcome);
}

TEST_CASE(chunks_side_by_side_are_different_allocations) {
  const chunks c(true);
  if (!c) return;
  const pointer_info first = describe(c.data() + 5), second = describe(c.data() + unit);
  CHECK_EQ(first.base + first.bytes, second.base);
  CHECK(first.generation != second.generation);
  CHECK_EQ(describe(c.data() + unit - 1).base, first.base);
  const scoped_stream s;  // copies reach from one into the other
  write(c.data() + 100, pattern(2 * unit - 200, 3), s);
  CHECK(read(c.data() + 100, 2 * unit - 200, s) == pattern(2 * unit - 200, 3));
}

TEST_CASE(a_chunk_that_is_mapped_anew_is_another_allocation) {
  const scoped_stream s;
  chunks c(true);
  if (!c) return;
  peer other;
  std::uint64_t before = 0;
  for (unsigned round = 0; round < 4; ++round) {
    write(c.data(), pattern(unit, round), s);
    const pointer_info info = describe(c.data());
    CHECK(info.generation != before);
    before = info.generation;
    const offered there(info);
    REQUIRE(other.ask({action::open_chunk, 0, 0, unit, there.handle()}).outcome == status::ok);
    c.map_anew();
    write(c.data(), pattern(unit, 100 + round), s);
    CHECK(other.ask({action::check, 0, round, unit, {}}).same);  // it keeps what it has opened
    CHECK_OK(other.ask({action::close_chunk, 0, 0, unit, {}}).outcome);
  }
}

TEST_CASE(an_opened_chunk_is_device_memory_until_closed) {
  const scoped_stream s;
  const chunks c(true);
  if (!c) return;
  write(c.data(), pattern(unit, 4), s);
  const void* base = nullptr;
  {
    const opened there({descriptor_of(c.data())});
    REQUIRE(there.base().has_value());
    base = *there.base();
    const pointer_info info = describe(static_cast<const char*>(base) + 1000);
    CHECK_EQ(info.kind, memory_kind::device);
    CHECK_EQ(info.base, reinterpret_cast<std::uintptr_t>(base));
    CHECK_EQ(info.bytes, unit);
    CHECK(read(base, unit, s) == pattern(unit, 4));
  }
  CHECK_EQ(kind_of(base), memory_kind::host);
}

TEST_CASE(several_chunks_are_opened_side_by_side) {
  const scoped_stream s;
  const chunks c(true, 5);
  if (!c) return;
  write(c.data(), pattern(5 * unit, 6), s);
  std::vector<int> files;
  for (std::size_t n = 0; n < 5; ++n) files.push_back(descriptor_of(c.data() + n * unit));
  const opened there(files), again({descriptor_of(c.data() + unit)});
  REQUIRE(there.base().has_value() && again.base().has_value());  // one chunk twice
  auto* const base = static_cast<std::uint8_t*>(*there.base());
  CHECK(read(base, 5 * unit, s) == pattern(5 * unit, 6));
  write(base + unit - 1000, pattern(2000, 7), s);  // over a border
  CHECK(read(c.data() + unit - 1000, 2000, s) == pattern(2000, 7));
  CHECK_EQ(kind_of(base + 5 * unit - 1), memory_kind::device);
}

TEST_CASE(of_several_chunks_all_are_opened_or_none) {
  const scoped_stream s;
  const chunks c(true, 3);
  if (!c) return;
  const auto before = subject_is_emulated() ? device::emu::count().imports : 0;
  for (std::size_t bad = 0; bad < 3; ++bad) {
    std::vector<int> files;
    for (std::size_t n = 0; n < 3; ++n)
      files.push_back(n == bad ? ::memfd_create("telpher-test", MFD_CLOEXEC)
                               : descriptor_of(c.data() + n * unit));
    const opened there(files);
    CHECK_EQ(there.base().error(), status::not_supported);
    if (subject_is_emulated()) CHECK_EQ(device::emu::count().imports, before);
  }
  const opened there({descriptor_of(c.data()), descriptor_of(c.data() + unit)});
  CHECK(there.base().has_value());
}

TEST_CASE(what_was_not_made_for_it_is_not_exported) {
  const memory plain(memory_kind::device, 100);
  CHECK_EQ(error_of(subject().descriptor_export(describe(plain.data()))), status::not_supported);
  const int file = ::memfd_create("telpher-test", MFD_CLOEXEC);
  const opened no_chunk({file});
  CHECK_EQ(no_chunk.base().error(), status::not_supported);
  const chunks c(false);
  if (!c) return;
  const pointer_info info = describe(c.data());
  CHECK_EQ(info.kind, memory_kind::device);
  CHECK(!info.exportable);
  CHECK_EQ(error_of(subject().descriptor_export(info)), status::not_supported);
  CHECK_EQ(error_of(subject().ipc_export(info)), status::not_supported);
}

// Importers would have to free their pointers first (device/cuda/chunks.cpp).
TEST_CASE(memory_of_a_shareable_pool_is_no_chunk) {
  if (std::strcmp(subject().name(), "cuda") != 0) return;
  const scoped_stream started;
  const cuda_driver::shareable_pool pool(0, unit);
  REQUIRE(pool.data() != nullptr);
  const pointer_info info = describe(pool.data());
  CHECK_EQ(info.kind, memory_kind::device);
  CHECK(!info.is_chunk && !info.exportable);
}

}  // namespace
}  // namespace contract
