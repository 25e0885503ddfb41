// SPDX-License-Identifier: BSD-3-Clause
// Detects that a transfer which depends on another node has made no progress for too long. A poll
// costs one increment; the clock is read at every 64th poll without progress.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/settings.hpp"

namespace telpher::path {

class stall_clock {
 public:
  /// To be called when bytes have moved or the peer has answered.
  void moved() noexcept {
    idle_polls_ = 0;
    running_ = false;
  }
  /// To be called at each poll that moved nothing. True when `limit` has passed since the last
  /// progress.
  bool expired(duration_us limit) noexcept {
    if (++idle_polls_ % 64 != 0) return false;
    const auto now = std::chrono::steady_clock::now();
    if (!running_) {
      running_ = true;
      since_ = now;
    }
    return std::chrono::duration<double, std::micro>(now - since_).count() > limit.value;
  }

 private:
  std::uint32_t idle_polls_ = 0;
  bool running_ = false;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace telpher::path
