// SPDX-License-Identifier: BSD-3-Clause
// Brackets a call that may block inside the host MPI where we cannot poll (collectives, windows,
// files, communicator construction). The constructor completes what peers need from this rank to
// make progress; while the object lives, peers of this node know that this rank is blocked and
// buffer what they send to it, and whatever other threads of this rank start is buffered before
// their call returns (engine::leave). Does nothing while Telpher is inactive.
#pragma once

#include "ticket/engine.hpp"

namespace telpher::ticket {

class blocking_call {
 public:
  blocking_call() noexcept : active_(the_engine().job().any_device) {
    if (!active_) return;
    engine& e = the_engine();
    auto held = e.lock();
    e.detach(held);
    e.own().header().blocked.fetch_add(1, std::memory_order_release);
  }
  ~blocking_call() {
    if (active_) the_engine().own().header().blocked.fetch_sub(1, std::memory_order_release);
  }
  blocking_call(const blocking_call&) = delete;
  blocking_call& operator=(const blocking_call&) = delete;

 private:
  bool active_;
};

}  // namespace telpher::ticket
