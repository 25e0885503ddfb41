// SPDX-License-Identifier: BSD-3-Clause
// The ZFP format of one block of 4^d values (P. Lindstrom, "Fixed-Rate Compressed Floating-Point
// Arrays", IEEE TVCG 20(12), 2014, and the format of codec version 5): a common exponent, a lifted
// integer transform, negabinary digits, and the order of coefficients.
//
// Integers are kept in unsigned words, because the transform of extreme values wraps, and must wrap
// in the same way everywhere.
#pragma once

#include "kernel/lang.hpp"

namespace telpher::kernel::zfp {

template <class S>
struct scalar;
template <>
struct scalar<float> {
  using word = std::uint32_t;
  static constexpr int mantissa_bits = 23, exponent_bits = 8, bias = 127;
};
template <>
struct scalar<double> {
  using word = std::uint64_t;
  static constexpr int mantissa_bits = 52, exponent_bits = 11, bias = 1023;
};

template <class S>
using word_of = typename scalar<S>::word;
template <class U>
constexpr unsigned width = 8 * sizeof(U);
TELPHER_BOTH constexpr unsigned block_values(int dims) {
  return 1u << (2 * dims);
}

template <class To, class From>
TELPHER_DEVICE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

/// Arithmetic shift right by one of a word that represents a signed integer.
TELPHER_DEVICE std::uint32_t half(std::uint32_t x) {
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> 1);
}
TELPHER_DEVICE std::uint64_t half(std::uint64_t x) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> 1);
}

// --- the common exponent ---

/// The magnitude of a value as a word with the same order. The format does not know infinities and
/// NaNs; they count as the largest finite value.
template <class S>
TELPHER_DEVICE word_of<S> magnitude(S x) {
  using U = word_of<S>;
  constexpr U largest = (U{(1u << scalar<S>::exponent_bits) - 1} << scalar<S>::mantissa_bits) - 1;
  const U m = bits_as<U>(x) & (~U{0} >> 1);
  return m < largest ? m : largest;
}

/// The exponent field of a block whose largest magnitude is `largest`: 0 for a block of zeros, else
/// bias + e for the smallest e with |x| < 2^e. Subnormal values count as having the smallest normal
/// exponent.
template <class S>
TELPHER_DEVICE unsigned exponent_field(word_of<S> largest) {
  const auto field = static_cast<unsigned>(largest >> scalar<S>::mantissa_bits);
  return field != 0 ? field + 1 : largest != 0;
}

/// 2^e for an e in the normal range.
template <class S>
TELPHER_DEVICE S power_of_two(int e) {
  return bits_as<S>(word_of<S>(static_cast<unsigned>(e + scalar<S>::bias))
                    << scalar<S>::mantissa_bits);
}

/// x * 2^e for exponents beyond the normal range, by two exact multiplications.
template <class S>
TELPHER_DEVICE S scale(S x, int e) {
  return x * power_of_two<S>(e / 2) * power_of_two<S>(e - e / 2);
}

/// The fixed-point word of x in a block of exponent e (|x| < 2^e), two bits below the word's top.
template <class S>
TELPHER_DEVICE word_of<S> to_fixed(S x, int e) {
  using U = word_of<S>;
  const U sign = bits_as<U>(x) & ~(~U{0} >> 1);
  const S finite = bits_as<S>(magnitude(x) | sign);
  const S scaled = scale(finite, static_cast<int>(width<U>) - 2 - e);
  if constexpr (sizeof(S) == 4)
    return static_cast<U>(static_cast<std::int32_t>(scaled));
  else
    return static_cast<U>(static_cast<std::int64_t>(scaled));
}

template <class S>
TELPHER_DEVICE S from_fixed(word_of<S> q, int e) {
  using U = word_of<S>;
  const int shift = e - (static_cast<int>(width<U>) - 2);
  if constexpr (sizeof(S) == 4)
    return scale(static_cast<S>(static_cast<std::int32_t>(q)), shift);
  else
    return scale(static_cast<S>(static_cast<std::int64_t>(q)), shift);
}

/// The number of bit planes of a block of exponent e. The format drops what lies below 2^-1074.
template <class S, int dims>
TELPHER_DEVICE unsigned planes_of(int e) {
  const int most = e + 1074 + 2 * (dims + 1);
  const auto all = static_cast<int>(width<word_of<S>>);
  return static_cast<unsigned>(most < all ? most : all);
}

// --- the transform ---

/// Turns four values into their coefficients, by lifting.
template <class U>
TELPHER_DEVICE void lift(U& x, U& y, U& z, U& w) {
  x = half(x + w);
  w -= x;
  z = half(z + y);
  y -= z;
  x = half(x + z);
  z -= x;
  w = half(w + y);
  y -= w;
  w += half(y);
  y -= half(w);
}

/// Inverts lift(), except for the bits that halving lost.
template <class U>
TELPHER_DEVICE void unlift(U& x, U& y, U& z, U& w) {
  y += half(w);
  w -= half(y);
  y += w;
  w = 2 * w - y;
  z += x;
  x = 2 * x - z;
  y += z;
  z = 2 * z - y;
  w += x;
  x = 2 * x - w;
}

/// Transforms each line of four values along one axis.
template <int dims, unsigned stride, bool forward, class U>
TELPHER_DEVICE void transform_axis(U* v) {
  TELPHER_UNROLL
  for (unsigned line = 0; line < block_values(dims) / 4; ++line) {
    U* at = v + line / stride * 4 * stride + line % stride;
    if constexpr (forward)
      lift(at[0], at[stride], at[2 * stride], at[3 * stride]);
    else
      unlift(at[0], at[stride], at[2 * stride], at[3 * stride]);
  }
}

template <int dims, class U>
TELPHER_DEVICE void transform(U* v) {
  transform_axis<dims, 1, true>(v);
  if constexpr (dims > 1) transform_axis<dims, 4, true>(v);
  if constexpr (dims > 2) transform_axis<dims, 16, true>(v);
}

template <int dims, class U>
TELPHER_DEVICE void untransform(U* v) {
  if constexpr (dims > 2) transform_axis<dims, 16, false>(v);
  if constexpr (dims > 1) transform_axis<dims, 4, false>(v);
  transform_axis<dims, 1, false>(v);
}

// --- digits and order ---

template <class U>
TELPHER_DEVICE U to_negabinary(U x) {
  constexpr U odd = static_cast<U>(0xaaaaaaaaaaaaaaaaull);
  return (x + odd) ^ odd;
}

template <class U>
TELPHER_DEVICE U from_negabinary(U x) {
  constexpr U odd = static_cast<U>(0xaaaaaaaaaaaaaaaaull);
  return (x ^ odd) - odd;
}

/// The position in the block (x + 4 y + 16 z) of the i-th coefficient in the stream. Coefficients
/// are ordered by total sequency, then by the sum of squares; the order among equals is the
/// format's.
template <int dims>
TELPHER_BOTH constexpr unsigned place_of(unsigned i) {
  constexpr unsigned char square[16] = {0, 1, 4, 5, 2, 8, 6, 9, 3, 12, 10, 7, 13, 11, 14, 15};
  constexpr unsigned char cube[64] = {
      0,  1,  4,  16, 20, 17, 5,  2,  8,  32, 21, 6,  18, 24, 9,  33, 36, 3,  12, 48, 22, 25,
      37, 40, 34, 10, 7,  19, 28, 13, 49, 52, 41, 38, 26, 23, 29, 53, 11, 35, 44, 14, 50, 56,
      42, 27, 39, 45, 30, 54, 57, 60, 51, 15, 43, 46, 58, 61, 55, 31, 62, 59, 47, 63};
  return dims == 1 ? i : dims == 2 ? square[i % 16] : cube[i % 64];
}

}  // namespace telpher::kernel::zfp
