// SPDX-License-Identifier: BSD-3-Clause
// Brackets a call that may block inside the host MPI where we cannot poll (collectives, windows,
// files, communicator construction). The constructor completes what peers need from this rank to
// make progress; while the object lives, peers of this node know that this rank is blocked and
// buffer what they send to it, and whatever other threads of this rank start is buffered before
// their call returns (progress_engine::leave). Does nothing while Telpher is inactive.
#pragma once

#include "ticket/progress.hpp"

namespace telpher::ticket {

class blocking_call {
 public:
  blocking_call() noexcept : active_(job().any_device) {
    if (!active_) return;
    auto held = progress().lock();
    progress().detach(held);
    peers().own().header().blocked.fetch_add(1, std::memory_order_release);
  }
  ~blocking_call() {
    if (active_) peers().own().header().blocked.fetch_sub(1, std::memory_order_release);
  }
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;

 private:
  bool active_;
};

}  // namespace telpher::ticket
