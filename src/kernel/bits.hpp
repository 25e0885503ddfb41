// SPDX-License-Identifier: BSD-3-Clause
// Operations on words as sets of bits: counting, and transposing a matrix of bits, so that word k
// holds bit k of each word of a group. The codecs work on these bit planes instead of on single
// bits.
#pragma once

#include "kernel/lang.hpp"

namespace telpher::kernel {

/// The number of zeros below the lowest set bit; `x` is not 0.
TELPHER_DEVICE unsigned trailing_zeros(std::uint64_t x) {
#if defined(TELPHER_LANGUAGE_CPU) || defined(TELPHER_LANGUAGE_SYCL)
  return static_cast<unsigned>(__builtin_ctzll(x));
#else
  return static_cast<unsigned>(__ffsll(static_cast<long long>(x)) - 1);
#endif
}

/// The number of bits that `x` takes; 0 of 0.
TELPHER_DEVICE unsigned bit_width(std::uint32_t x) {
#if defined(TELPHER_LANGUAGE_CPU) || defined(TELPHER_LANGUAGE_SYCL)
  return x == 0 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(x));
#else
  return static_cast<unsigned>(32 - __clz(static_cast<int>(x)));
#endif
}

TELPHER_DEVICE unsigned ones(std::uint64_t x) {
#if defined(TELPHER_LANGUAGE_CPU) || defined(TELPHER_LANGUAGE_SYCL)
  return static_cast<unsigned>(__builtin_popcountll(x));
#else
  return static_cast<unsigned>(__popcll(x));
#endif
}

/// The lowest `n` bits of `x`; n is at most 64.
TELPHER_DEVICE std::uint64_t low_bits(std::uint64_t x, unsigned n) {
  return n < 64 ? x & ((std::uint64_t{1} << n) - 1) : x;
}

/// A mask with `width` ones at the start of every 2 * width bits, from bit 0 on.
template <class U>
TELPHER_BOTH constexpr U stripes(unsigned width) {
  U mask = 0;
  for (unsigned bit = 0; bit < 8 * sizeof(U); ++bit)
    if (bit / width % 2 == 0) mask = static_cast<U>(mask | U{1} << bit);
  return mask;
}

/// Exchanges the upper bits of `a` with the lower bits of `b` in every square of 2 * width bits:
/// one step of a transposition.
template <class U>
TELPHER_DEVICE void exchange_corners(U& a, U& b, unsigned width, U mask) {
  const U differing = ((a >> width) ^ b) & mask;
  a ^= differing << width;
  b ^= differing;
}

template <class U, unsigned rows, unsigned width>
TELPHER_DEVICE void transpose_step(U* words) {
  constexpr U mask = stripes<U>(width);
  TELPHER_UNROLL
  for (unsigned pair = 0; pair < rows / 2; ++pair) {
    const unsigned upper = pair / width * 2 * width + pair % width;
    exchange_corners(words[upper], words[upper + width], width, mask);
  }
  if constexpr (width > 1) transpose_step<U, rows, width / 2>(words);
}

/// Transposes every rows x rows square of bits of `rows` words in place; rows is a power of two and
/// at most the word's width. It is its own inverse.
template <class U, unsigned rows>
TELPHER_DEVICE void transpose_bits(U* words) {
  transpose_step<U, rows, rows / 2>(words);
}

}  // namespace telpher::kernel
