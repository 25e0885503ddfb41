// SPDX-License-Identifier: BSD-3-Clause
// Kernels that copy messages, and other work of the device. While the lingering copier serves one
// command after the other, other streams make progress. What counts as a burst, for which a copier
// stays. Kernels that die end their copies with an error, and later copies work again.
#include "memory/memory.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "../memory/emulated.hpp"
#include "base/settings.hpp"
#include "check_log.hpp"
#include "memory/held_streams.hpp"
#include "path/batch.hpp"
#include "path/linger.hpp"
#include "path/staged.hpp"

using namespace telpher;

namespace {

memory::place where() {
  return {&emulated::device(), 0};  // opened before a case has settings of its own
}

void set_faults(const char* text) {
  void* plugin =
      dlopen((config().plugin_path + "/libtelpher-emu.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(plugin != nullptr);
  reinterpret_cast<void (*)(const char*)>(dlsym(plugin, "telpher_emu_faults"))(text);
}

template <class Poll>
status ends(const Poll& poll) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  status s = status::would_block;
  while (s == status::would_block && std::chrono::steady_clock::now() < end) s = poll();
  return s;
}

}  // namespace

TEST_CASE(no_transport_waits_for_the_copier) {
  const emulated::allocation m(4096);
  const scoped_settings long_stay({"TELPHER_LINGER=on", "TELPHER_LINGER_TIME=10ms"});
  path::lingering_copier copier(where());
  for (int i = 0; i < static_cast<int>(memory::stream_role::count_); ++i) {
    const auto role = static_cast<memory::stream_role>(i);
    if (role == memory::stream_role::linger) continue;
    std::array<std::byte, 64> to;
    path::block_copies copies(where(), role);
    std::uint32_t last = 0;
    // The burst continues until the copy has ended, without a pause in which the copier would
    // leave.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    do {
      const auto next = copier.submit(m.data(), m.data() + 2048, 64);
      REQUIRE(next.has_value());
      if (last == 0) CHECK_EQ(copies.start(to.data(), m.data() + 1024, to.size()), status::ok);
      last = *next;
      CHECK_EQ(ends([&] { return copier.poll(last); }), status::ok);
    } while (*copies.finished() == 0 && std::chrono::steady_clock::now() < end);
    CHECK_EQ(*copies.finished(), 1);
  }
}

/// A look at what a kernel writes: nothing orders the two, and nothing need.
[[gnu::no_sanitize_thread]] bool has_come(const volatile std::uint32_t& word,
                                          std::uint32_t value) noexcept {
  return word == value;
}

// Who gives it work may look for the end much later. One that is about to leave is another matter:
// it may go without the command, which poll() finds.
TEST_CASE(a_copier_that_has_left_is_launched_again_with_the_next_command) {
  const scoped_settings short_stay({"TELPHER_LINGER=on", "TELPHER_LINGER_TIME=1ms"});
  path::lingering_copier copier(where());
  auto words = memory::buffer::host(4096, where().owner, true);
  REQUIRE(words.has_value());
  auto* const from = static_cast<std::uint32_t*>(words->data());
  std::uint32_t* const to = from + 512;
  for (std::uint32_t round = 1; round <= 3; ++round) {
    from[round] = round;
    REQUIRE(copier.submit(to + round, from + round, sizeof *to).has_value());
    CHECK_EQ(ends([&] { return has_come(to[round], round) ? status::ok : status::would_block; }),
             status::ok);
    const auto its_stream = memory::stream(where(), memory::stream_role::linger);
    REQUIRE(its_stream.has_value());
    CHECK_EQ(where().owner->synchronise(*its_stream), status::ok);  // it has left
    CHECK_EQ(copier.served(), 1);
  }
}

TEST_CASE(a_copier_that_is_there_may_serve_more) {
  const emulated::allocation m(4096);
  const scoped_settings long_stay({"TELPHER_LINGER=on", "TELPHER_LINGER_TIME=10ms"});
  path::lingering_copier copier(where());
  CHECK(copier.served() > 1);  // there was none
  const auto one = copier.submit(m.data(), m.data() + 2048, 64);
  const auto other = copier.submit(m.data(), m.data() + 2048, 64);
  REQUIRE(one.has_value() && other.has_value());
  CHECK_EQ(ends([&] { return copier.poll(*other); }), status::ok);
  CHECK(copier.served() > 1);
}

TEST_CASE(kernels_that_left_after_one_piece_are_launched_less_and_less_often) {
  path::burst pieces;
  const auto passed_over = [&] {
    int n = 0;
    while (!pieces.pays(1)) ++n;
    return n;
  };
  for (const int n : {0, 1, 3, 7, 15, 31, 63, 63}) CHECK_EQ(passed_over(), n);
  CHECK(pieces.pays(2));  // one was worth it
  for (const int n : {0, 1, 3}) CHECK_EQ(passed_over(), n);
  const scoped_settings always({"TELPHER_LINGER=on"});
  for (int i = 0; i < 10; ++i) CHECK(pieces.pays(1));
}

TEST_CASE(a_batch_that_dies_ends_its_copies) {
  const emulated::allocation m(4096);
  path::batched_copier batches(where());
  kernel::copy_batch::piece pieces[2] = {{m.data(), m.data() + 2048, 64},
                                         {m.data() + 64, m.data() + 2112, 64}};
  const auto pass = [&](status wanted) {
    auto first = batches.launch(pieces, 2);
    REQUIRE(first.has_value());
    for (std::uint16_t i = 0; i < 2; ++i)
      CHECK_EQ(ends([&] { return batches.poll({first->batch, i}, 64); }), wanted);
    CHECK_EQ(batches.in_flight(), 0);
    CHECK_EQ(batches.bytes_in_flight(), 0);
  };
  pass(status::ok);
  check::expect_log("ended without saying so");
  set_faults("die:1");
  pass(status::device_error);
  set_faults("");
  for (int i = 0; i < 40; ++i) pass(status::ok);
}

TEST_CASE(a_burst_goes_on_for_longer_while_streams_wait) {
  using clock = std::chrono::steady_clock;
  constexpr auto gap = std::chrono::milliseconds(13), twice = std::chrono::milliseconds(20);
  const memory::place device = where();
  const scoped_settings s({"TELPHER_LINGER_TIME=10ms"});
  path::burst::permit(true);
  for (const bool held : {false, true}) {
    path::burst pieces;
    CHECK(!pieces.goes_on(device));
    if (held) memory::held_streams::instance().begin();
    bool in_time = false;
    for (int tries = 0; !in_time && tries < 100; ++tries) {
      pieces.goes_on(device);
      const auto before = clock::now();
      std::this_thread::sleep_for(gap);
      const bool goes_on = pieces.goes_on(device);
      in_time = clock::now() - before < twice;  // else the machine was late
      if (in_time) CHECK_EQ(goes_on, held);
    }
    CHECK(in_time);
    if (held) memory::held_streams::instance().end();
  }
  path::burst::permit(false);
}

TEST_CASE(a_copier_that_dies_ends_its_copies) {
  const emulated::allocation m(4096);
  path::lingering_copier copier(where());
  check::expect_log("ended without saying so");
  set_faults("die:1");
  const auto first = copier.submit(m.data(), m.data() + 2048, 64);
  const auto second = copier.submit(m.data(), m.data() + 2048, 64);
  REQUIRE(first.has_value() && second.has_value());
  CHECK_EQ(ends([&] { return copier.poll(*first); }), status::device_error);
  CHECK_EQ(ends([&] { return copier.poll(*second); }), status::device_error);
  set_faults("");
  CHECK_EQ(error_of(copier.submit(m.data(), m.data() + 2048, 64)), status::device_error);
}
