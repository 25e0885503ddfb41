// SPDX-License-Identifier: BSD-3-Clause
// Detects that a transfer which depends on another node has made no progress for too long. A poll
// costs one increment; the clock is read at every 64th poll without progress.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "base/settings.hpp"

namespace telpher::path {

class stall_clock {
 public:
  /// To be called when bytes have moved or the peer has answered.
  void moved() noexcept {
    idle_polls_ = 0;
    since_ns_ = 0;
  }
  /// To be called at each poll that moved nothing. True when `limit` has passed since the last
  /// progress.
  bool expired(duration_us limit) noexcept {
    if (++idle_polls_ % 64 != 0) return false;
    if (since_ns_ == 0) since_ns_ = now_ns();
    return us_since(since_ns_) > limit.value;
  }

 private:
  std::uint32_t idle_polls_ = 0;
  std::uint64_t since_ns_ = 0;
};

}  // namespace telpher::path
