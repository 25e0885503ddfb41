// SPDX-License-Identifier: BSD-3-Clause
// How threads of src/stream wait, and a clock for warnings of long waits.
#pragma once

#include "base/clock.hpp"
#include "base/pause.hpp"
#include "base/settings.hpp"

namespace telpher::stream {

/// Rings each time that another TELPHER_STALL_WARNING has passed.
class warning_clock {
 public:
  double seconds() const noexcept { return us_since(begin_ns_) / 1e6; }
  bool rings() noexcept {
    if (seconds() < next_) return false;
    next_ += config().stall_warning.value / 1e6;
    return true;
  }

 private:
  std::uint64_t begin_ns_ = now_ns();
  double next_ = config().stall_warning.value / 1e6;
};

constexpr long nap_ns = 20'000;  // sleep between passes, after many passes without work

}  // namespace telpher::stream
