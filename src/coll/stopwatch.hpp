// SPDX-License-Identifier: BSD-3-Clause
// The shortest time that something took, of which somebody has asked to know.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace telpher::coll {

class stopwatch {
 public:
  /// Nobody has asked.
  stopwatch() noexcept = default;
  /// Runs from `since_ns` (now_ns()) on. `least_ns` is 0 until the first time is known.
  stopwatch(std::int64_t& least_ns, std::uint64_t since_ns) noexcept
      : least_ns_(&least_ns), since_ns_(since_ns) {}
  void stop() noexcept {
    if (!least_ns_) return;
    const std::int64_t took =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(now_ns() - since_ns_));
    *least_ns_ = *least_ns_ == 0 ? took : std::min(*least_ns_, took);
    least_ns_ = nullptr;
  }

 private:
  std::int64_t* least_ns_ = nullptr;
  std::uint64_t since_ns_ = 0;
};

}  // namespace telpher::coll
