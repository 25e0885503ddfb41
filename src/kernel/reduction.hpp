// SPDX-License-Identifier: BSD-3-Clause
// The device reductions as numbers: operations, value types, and the kernel of each listed pair. A
// reduction's kernel is the exchange kernel with that one reduction compiled in. Its id follows
// those of kernel.def.
#pragma once

#include <cstddef>

#include "kernel/kernel.hpp"
#include "kernel/reduction.def"

namespace telpher::kernel {

#define TELPHER_NAME_OF(name) name,
enum class reduce_op : std::uint8_t { TELPHER_REDUCTION_OPS(TELPHER_NAME_OF) count_ };
enum class value_type : std::uint8_t { TELPHER_VALUE_TYPES(TELPHER_NAME_OF) count_ };
#undef TELPHER_NAME_OF

constexpr int value_types = static_cast<int>(value_type::count_);
constexpr int reduce_ops = static_cast<int>(reduce_op::count_);

constexpr bool reduces(reduce_op op, value_type type) {
#define TELPHER_CASE(o, t) \
  if (op == reduce_op::o && type == value_type::t) return true;
#define TELPHER_CASES(o) TELPHER_TYPES_OF_##o(TELPHER_CASE)
  TELPHER_REDUCTION_OPS(TELPHER_CASES)
#undef TELPHER_CASES
#undef TELPHER_CASE
  return false;
}

/// The exchange kernel with this reduction; only for listed pairs.
constexpr id exchange_with(reduce_op op, value_type type) {
  return static_cast<id>(static_cast<int>(id::count_) + static_cast<int>(op) * value_types +
                         static_cast<int>(type));
}

/// Whether a kernel has a reduction, and which.
constexpr bool has_reduction(id k) {
  return static_cast<int>(k) >= static_cast<int>(id::count_);
}
constexpr int reduction_index(id k) {
  return static_cast<int>(k) - static_cast<int>(id::count_);
}

/// Bytes of one value.
constexpr std::size_t value_bytes(value_type t) {
  constexpr std::size_t bytes[] = {1, 1, 2,  2, 4, 4,  8, 8,  2, 2, 4,
                                   8, 8, 16, 8, 8, 16, 8, 16, 8, 16};
  static_assert(sizeof bytes / sizeof bytes[0] == value_types);
  return bytes[static_cast<int>(t)];
}

}  // namespace telpher::kernel
