// SPDX-License-Identifier: BSD-3-Clause
// The library's clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace telpher {

/// A monotonic clock, the same for all processes of a node.
inline std::uint64_t now_ns() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

inline double us_since(std::uint64_t begin_ns) noexcept {
  return static_cast<double>(now_ns() - begin_ns) / 1e3;
}

}  // namespace telpher
