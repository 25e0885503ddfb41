// SPDX-License-Identifier: BSD-3-Clause
// The value types of reductions, and the operations on two values. A reduction of several sources
// is a fold from the left in `wide` form: halves are widened once, summed in float, and rounded
// once. Values with padding are written member by member, because the padding bytes belong to the
// program.
#pragma once

#include "kernel/lang.hpp"

namespace telpher::kernel {

// --- types; names as in reduction.def ---

namespace values {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i16 = std::int16_t;
using u16 = std::uint16_t;
using i32 = std::int32_t;
using u32 = std::uint32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
using f32 = float;
using f64 = double;
struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};
template <class R>
struct alignas(sizeof(R)) complex_value {
  R re, im;
};
using c32 = complex_value<float>;
using c64 = complex_value<double>;
template <class V, class L>
struct located {
  V value;
  L index;
};
using i16_i32 = located<std::int16_t, std::int32_t>;
using i32_i32 = located<std::int32_t, std::int32_t>;
using i64_i32 = located<std::int64_t, std::int32_t>;
using f32_i32 = located<float, std::int32_t>;
using f64_i32 = located<double, std::int32_t>;
using f32_f32 = located<float, float>;
using f64_f64 = located<double, double>;

}  // namespace values

// --- halves ---

TELPHER_BOTH float float_of_bits(std::uint32_t bits) {
  union {
    std::uint32_t in;
    float out;
  } u{bits};
  return u.out;
}
TELPHER_BOTH std::uint32_t bits_of_float(float value) {
  union {
    float in;
    std::uint32_t out;
  } u{value};
  return u.out;
}

TELPHER_BOTH float widen(values::bf16 h) {
  return float_of_bits(static_cast<std::uint32_t>(h.bits) << 16);
}
TELPHER_BOTH values::bf16 round_to_bf16(float value) {
  const std::uint32_t bits = bits_of_float(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)  // a NaN stays a NaN
    return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

TELPHER_BOTH float widen(values::f16 h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = h.bits & 0x7fffu;
  if (magnitude >= 0x7c00u)  // infinity, NaN
    return float_of_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  // After the shift the exponent is 112 too small. The product corrects it, also for subnormals.
  return float_of_bits(sign |
                       bits_of_float(float_of_bits(magnitude << 13) * float_of_bits(0x77800000u)));
}
TELPHER_BOTH values::f16 round_to_f16(float value) {
  const std::uint32_t bits = bits_of_float(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000u) {
    half = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {  // rounds to more than the largest half
    half = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  } else {  // subnormal: the float adder rounds to multiples of 2^-24
    half = bits_of_float(float_of_bits(magnitude) + 0.5f) - 0x3f000000u;
  }
  return {static_cast<std::uint16_t>(sign | half)};
}

/// The type in which sums of T are kept before the final rounding.
template <class T>
struct wide {
  using type = T;
  TELPHER_BOTH static T from(T v) { return v; }
  TELPHER_BOTH static T to(T v) { return v; }
};
template <>
struct wide<values::f16> {
  using type = float;
  TELPHER_BOTH static float from(values::f16 v) { return widen(v); }
  TELPHER_BOTH static values::f16 to(float v) { return round_to_f16(v); }
};
template <>
struct wide<values::bf16> {
  using type = float;
  TELPHER_BOTH static float from(values::bf16 v) { return widen(v); }
  TELPHER_BOTH static values::bf16 to(float v) { return round_to_bf16(v); }
};

// --- operations on two values, the lower rank's on the left ---

namespace combine {

struct sum {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a + b);
  }
  template <class R>
  TELPHER_BOTH static values::complex_value<R> apply(values::complex_value<R> a,
                                                     values::complex_value<R> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct prod {
  TELPHER_BOTH static values::u16 apply(values::u16 a,
                                        values::u16 b) {  // as int the product might overflow
    return static_cast<values::u16>(static_cast<values::u32>(a) * b);
  }
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a * b);
  }
  template <class R>
  TELPHER_BOTH static values::complex_value<R> apply(values::complex_value<R> a,
                                                     values::complex_value<R> b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct max {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return a > b ? a : b;
  }
};
struct min {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return a < b ? a : b;
  }
};
struct land {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a && b);
  }
};
struct lor {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a || b);
  }
};
struct lxor {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(!a != !b);
  }
};
struct band {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct bor {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct bxor {
  template <class T>
  TELPHER_BOTH static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct maxloc {
  template <class V, class L>
  TELPHER_BOTH static values::located<V, L> apply(values::located<V, L> a,
                                                  values::located<V, L> b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value > b.value ? a : b;
  }
};
struct minloc {
  template <class V, class L>
  TELPHER_BOTH static values::located<V, L> apply(values::located<V, L> a,
                                                  values::located<V, L> b) {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value < b.value ? a : b;
  }
};

}  // namespace combine

/// Whether a value may be copied as bytes because it has no padding.
template <class T>
struct is_dense {
  static constexpr bool value = true;
};
template <class V, class L>
struct is_dense<values::located<V, L>> {
  static constexpr bool value = sizeof(V) + sizeof(L) == sizeof(values::located<V, L>);
};

template <class T>
TELPHER_DEVICE void assign(T* to, T value) {
  *to = value;
}
template <class V, class L>
TELPHER_DEVICE void assign(values::located<V, L>* to, values::located<V, L> value) {
  to->value = value.value;
  to->index = value.index;
}

}  // namespace telpher::kernel
