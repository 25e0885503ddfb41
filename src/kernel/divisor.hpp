// SPDX-License-Identifier: BSD-3-Clause
// Division in kernels. GPUs have no instruction that divides integers.
#pragma once

#include <bit>
#include <cstdint>

#include "kernel/bits.hpp"
#include "kernel/lang.hpp"

namespace telpher::kernel {

template <class N>
struct quotient {
  N whole;
  N rest;
};

/// A number below 2^31 to divide others below 2^31 by, with a multiplication in place of the
/// division (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
struct divisor {
  std::uint32_t multiplier;
  std::uint32_t by;

  static constexpr std::uint64_t limit = std::uint64_t{1} << 31;

  static constexpr divisor of(std::uint32_t by) {
    const std::uint64_t power = std::bit_ceil(by);
    return {static_cast<std::uint32_t>(((power - by) << 32) / by + 1), by};
  }
};

TELPHER_DEVICE quotient<std::uint32_t> divide(std::uint32_t n, const divisor& d) {
  const auto high = static_cast<std::uint32_t>(std::uint64_t{n} * d.multiplier >> 32);
  const std::uint32_t whole = (high + n) >> bit_width(d.by - 1);
  return {whole, n - whole * d.by};
}

/// GPUs divide 32 bits some ten times faster than 64.
TELPHER_DEVICE quotient<std::uint64_t> divide(std::uint64_t n, std::uint64_t by) {
  if ((n | by) >> 32 == 0) {
    const auto n32 = static_cast<std::uint32_t>(n), by32 = static_cast<std::uint32_t>(by);
    return {n32 / by32, n32 % by32};
  }
  return {n / by, n % by};
}

}  // namespace telpher::kernel
