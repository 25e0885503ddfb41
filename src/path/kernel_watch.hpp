// SPDX-License-Identifier: BSD-3-Clause
// The host sees the end of a kernel by words that the kernel writes. One that faults (its mapping
// is lost, the device has failed) writes nothing, and who polls its words would poll for ever: so
// the kernel's stream is asked now and then whether anything runs there.
#pragma once

#include "memory/streams.hpp"
#include "path/stall_clock.hpp"

namespace telpher::path {

class kernel_watch {
 public:
  /// A kernel was launched: the watch begins anew.
  void begin() noexcept {
    event_ = {};
    clock_.moved();
  }
  /// To be called at each look that found a word unwritten. would_block: the kernel may still write
  /// it. Any other answer: what was launched into `s` before has ended, well or not, and a word
  /// that is not there by now will not come.
  status poll(const memory::place& where, device::stream s) noexcept {
    if (!clock_.expired(look_after)) return status::would_block;
    if (!event_ && !mark(where, s)) {
      clock_.moved();
      return where.owner->synchronise(s);  // a dead device has no events either
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
  memory::pooled_event event_;  // behind the kernel; made when it takes long
};

}  // namespace telpher::path
