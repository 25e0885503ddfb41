// SPDX-License-Identifier: BSD-3-Clause
// The clock of whoever polls for something that takes too long: for limits, and for the warnings of
// TELPHER_STALL_WARNING. A poll costs one increment; the time is read at every 64th poll without
// progress. It counts from the first of these.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "base/pause.hpp"
#include "base/settings.hpp"

namespace telpher {

class stall_clock {
 public:
  /// To be called when something has moved.
  void moved() noexcept {
    idle_polls_ = 0;
    since_ns_ = 0;
  }
  /// To be called at each poll that moved nothing. True when `limit` has passed since the last
  /// progress.
  bool expired(duration_us limit) noexcept { return read() && waited_us() > limit.value; }
  /// The same for warnings: true when TELPHER_STALL_WARNING has passed, and then each time that the
  /// wait has become twice as long.
  bool warns() noexcept { return read() && warning_due(); }

  double waited_us() const noexcept { return us_since(since_ns_); }
  double seconds() const noexcept { return waited_us() / 1e6; }

  // --- for a wait that asks several questions at a poll ---

  /// Counts a poll that moved nothing. True if it is time to read the clock.
  bool read() noexcept {
    if (++idle_polls_ % 64 != 0) return false;
    if (since_ns_ == 0) {
      since_ns_ = now_ns();
      next_warning_us_ = config().stall_warning.value;
    }
    return true;
  }
  bool warning_due() noexcept {
    if (waited_us() < next_warning_us_) return false;
    next_warning_us_ *= 2;
    return true;
  }
  std::uint32_t polls() const noexcept { return idle_polls_; }

 private:
  std::uint32_t idle_polls_ = 0;
  std::uint64_t since_ns_ = 0;
  double next_warning_us_ = 0;
};

/// A wait for what another thread or the device does.
class patient_wait {
 public:
  /// Between two looks. True when a warning is due.
  bool pause() noexcept {
    telpher::pause(clock_.polls());
    return clock_.warns();
  }
  double seconds() const noexcept { return clock_.seconds(); }

 private:
  stall_clock clock_;
};

}  // namespace telpher
