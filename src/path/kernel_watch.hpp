// SPDX-License-Identifier: BSD-3-Clause
// Detects kernels that ended without a result. The host normally sees the end of a kernel by words
// that the kernel writes. A kernel that faults (its mapping is lost, the device has failed) writes
// nothing, and polling its words would never end. So the kernel's stream is queried now and then.
#pragma once

#include "base/stall_clock.hpp"
#include "memory/streams.hpp"

namespace telpher::path {

class kernel_watch {
 public:
  /// To be called when a kernel was launched; restarts the watch.
  void begin() noexcept {
    event_ = {};
    clock_.moved();
  }
  /// To be called at each poll that found a word unwritten. would_block: the kernel may still write
  /// it. Any other status: the work launched into `s` so far has ended, well or not, and a word
  /// that is still unwritten stays unwritten.
  status poll(const memory::place& where, device::stream s) noexcept {
    if (!clock_.expired(look_after)) return status::would_block;
    if (!event_ && !mark(where, s)) {
      clock_.moved();
      return where.owner->synchronise(s);  // a failed device cannot make events either
    }
    const status answer = event_.query();
    if (answer != status::would_block) begin();
    return answer;
  }

 private:
  static constexpr duration_us look_after{1000};

  bool mark(const memory::place& where, device::stream s) noexcept {
    auto made = memory::pooled_event::acquire(where);
    if (!made || made->record(s) != status::ok) return false;
    event_ = std::move(*made);
    return true;
  }

  stall_clock clock_;
  memory::pooled_event event_;  // recorded after the kernel; made only if the kernel takes long
};

}  // namespace telpher::path
