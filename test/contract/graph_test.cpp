// SPDX-License-Identifier: BSD-3-Clause
// Contract: streams that are captured, and graphs that hold writes of words and waits for them.
#define CHECK_NO_MAIN
#include "graph.hpp"

#include <atomic>

#include "contract.hpp"
#include "device/emu/capture.hpp"

namespace contract {
namespace {

// Null where there is no way to capture.
const graphs::calls* graph_calls() {
  static constexpr graphs::calls of_emu{telpher_emu_begin_capture, telpher_emu_end_capture,
                                        telpher_emu_launch_graph, telpher_emu_destroy_graph,
                                        telpher_emu_invalidate_capture};
  if (subject_is_emulated()) return &of_emu;
  return subject().owner() == device::vendor::sycl ? nullptr : graphs::of_vendor();
}

// It counts as captured until its end, and takes nothing.
TEST_CASE(a_capture_that_has_failed) {
  if (!graph_calls() || !subject().streams_wait(0)) return;
  const memory m(memory_kind::device, 64);
  const scoped_stream s;
  void* const native = subject().native_stream(s);
  {
    graphs::graph g(*graph_calls(), native);
    CHECK_OK(subject().fill(m.data(), 7, 64, s));
    REQUIRE(g.invalidate());
    CHECK(subject().is_captured(s));
    int device = -1;
    const auto adopted = subject().adopt_stream(native, device);
    REQUIRE(bool(adopted));
    CHECK(subject().is_captured(*adopted));
    subject().disown_stream(*adopted);
    for (const char* line : {"fill failed: the stream's capture", "retain failed: the stream's"})
      if (subject_is_emulated()) check::expect_log(line);  // a plug-in has its own log
    CHECK(subject().fill(m.data(), 8, 64, s) != status::ok);
    int object = 0;
    const status kept = subject().keep_for_graph(s, &object, [](void*) {});
    CHECK(kept != status::ok && kept != status::not_supported);
    CHECK(!g.end());
  }
  CHECK(!subject().is_captured(s));
  CHECK_OK(subject().fill(m.data(), 9, 64, s));
  CHECK(read(m.data(), 64, s) == bytes(64, 9));
}

TEST_CASE(a_graph_holds_writes_and_waits) {
  if (!graph_calls() || !subject().streams_wait(0)) return;
  const memory words(memory_kind::pinned, 128), m(memory_kind::device, 64);
  std::memset(words.data(), 0, 128);
  auto* const reached = reinterpret_cast<std::uint32_t*>(words.data());
  auto* const over = reinterpret_cast<std::uint32_t*>(words.data() + 64);
  const scoped_stream s, other;
  void* const native = subject().native_stream(s);
  CHECK(!subject().is_captured(s));
  graphs::graph g(*graph_calls(), native);
  CHECK(subject().is_captured(s));
  if (subject().graphs_hold_words()) {
    CHECK_OK(subject().write_value(s, reached, 1));
    CHECK_OK(subject().wait_value(s, over, 1));
    CHECK_OK(subject().write_value(s, over, 0));
  } else {
    const kernel::graph_hold k{reached, over};
    CHECK_OK(subject().launch(kernel::id::graph_hold, &k, 1, 64, s));
  }
  CHECK_OK(subject().fill(m.data(), 7, 64, s));
  REQUIRE(g.end());
  CHECK(!subject().is_captured(s));
  CHECK_EQ(std::atomic_ref(*reached).load(), 0u);  // nothing has run
  for (int replay = 0; replay < 5; ++replay) {
    write(m.data(), bytes(64, 1), other);
    const scoped_event e;
    CHECK(g.launch(native));
    CHECK_OK(subject().record(e, s));
    REQUIRE(eventually([&] { return std::atomic_ref(*reached).load() == 1; }));
    CHECK(!e.done());
    CHECK(read(m.data(), 64, other) == bytes(64, 1));
    std::atomic_ref(*reached).store(0);
    std::atomic_ref(*over).store(1);
    REQUIRE(eventually([&] { return e.done(); }));
    CHECK(read(m.data(), 64, other) == bytes(64, 7));
    CHECK_EQ(std::atomic_ref(*over).load(), 0u);
  }
}

TEST_CASE(a_graph_keeps_what_it_is_given_until_it_is_gone) {
  if (!graph_calls() || !subject().streams_wait(0)) return;
  const scoped_stream s;
  const memory m(memory_kind::device, 64);
  std::atomic<int> gone{0};
  const auto let_go = [](void* counter) { static_cast<std::atomic<int>*>(counter)->fetch_add(1); };
  CHECK(failed(subject().keep_for_graph(s, &gone, let_go)));  // it is not captured
  {
    graphs::graph g(*graph_calls(), subject().native_stream(s));
    CHECK_OK(subject().fill(m.data(), 7, 64, s));
    CHECK_OK(subject().keep_for_graph(s, &gone, let_go));
    REQUIRE(g.end());
    CHECK(g.launch(subject().native_stream(s)));
    CHECK_OK(subject().synchronise(s));
    CHECK_EQ(gone.load(), 0);
  }
  CHECK(eventually([&] { return gone == 1; }));
}

}  // namespace
}  // namespace contract
