// SPDX-License-Identifier: BSD-3-Clause
// Brackets a call that may block inside the host MPI where we cannot poll (collectives, windows,
// files, communicator construction). The constructor completes what peers need from this rank to
// make progress. While the object lives, peers of this node see that this rank is blocked, and
// buffer what they send to it. What other threads of this rank start meanwhile is buffered before
// their call returns (progress_engine::leave). Does nothing while Telpher is inactive.
#pragma once

#include "ticket/progress.hpp"

namespace telpher::ticket {

class blocking_call {
 public:
  blocking_call() noexcept : active_(job().any_device) {
    if (!active_) return;
    if (progress().threaded() || !progress().idle() || memory::allocations::instance().due())
      prepare();
    else
      count(1);
  }
  ~blocking_call() {
    if (active_) count(-1);
  }
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;

 private:
  // Under the lock: another thread's call either ends before this rank is ready to block, or sees
  // that it is blocked, and leaves nothing for this thread to do (progress_engine::leave).
  [[gnu::noinline]] static void prepare() noexcept {
    auto held = progress().lock();
    progress().detach(held);
    count(1);
  }
  // Only this process writes the count. A process with one thread needs no atomic addition.
  static void count(int by) noexcept {
    std::atomic<std::uint32_t>& blocked = peers().own().header().blocked;
    const auto change = static_cast<std::uint32_t>(by);
    if (progress().threaded())
      blocked.fetch_add(change, std::memory_order_release);
    else
      blocked.store(blocked.load(std::memory_order_relaxed) + change, std::memory_order_release);
  }

  bool active_;
};

}  // namespace telpher::ticket
