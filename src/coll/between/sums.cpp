// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/sums.hpp"

#include <algorithm>
#include <array>

#include "kernel/values.hpp"

namespace telpher::coll::between {
namespace {

using sum_function = void (*)(std::byte* to, const std::vector<const std::byte*>& sources,
                              std::uint64_t bytes);

/// Block by block, so that the sum stays in the first cache. `to` is written after all sources of a
/// block have been read.
template <class Op, class T>
void fold(std::byte* to, const std::vector<const std::byte*>& sources, std::uint64_t bytes) {
  using wide = kernel::wide<T>;
  constexpr std::uint64_t values_at_once = 512;
  typename wide::type sum[values_at_once];
  const std::uint64_t count = bytes / sizeof(T);
  for (std::uint64_t at = 0; at < count; at += values_at_once) {
    const std::uint64_t n = std::min(values_at_once, count - at);
    const T* first = reinterpret_cast<const T*>(sources[0]) + at;
    for (std::uint64_t i = 0; i < n; ++i) sum[i] = wide::from(first[i]);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      const T* next = reinterpret_cast<const T*>(sources[s]) + at;
      for (std::uint64_t i = 0; i < n; ++i) sum[i] = Op::apply(sum[i], wide::from(next[i]));
    }
    T* result = reinterpret_cast<T*>(to) + at;
    for (std::uint64_t i = 0; i < n; ++i) kernel::assign(result + i, wide::to(sum[i]));
  }
}

using sum_table = std::array<std::array<sum_function, kernel::value_types>, kernel::reduce_ops>;

constexpr sum_table make_table() {
  sum_table t{};
#define TELPHER_CASE(op, value)                            \
  t[static_cast<std::size_t>(kernel::reduce_op::op)]       \
   [static_cast<std::size_t>(kernel::value_type::value)] = \
       fold<kernel::combine::op, kernel::values::value>;
#define TELPHER_CASES(op) TELPHER_TYPES_OF_##op(TELPHER_CASE)
  TELPHER_REDUCTION_OPS(TELPHER_CASES)
#undef TELPHER_CASES
#undef TELPHER_CASE
  return t;
}

constexpr sum_table sums = make_table();

}  // namespace

void reduce_on_host(const reduction& by, std::byte* to,
                    const std::vector<const std::byte*>& sources, std::uint64_t bytes) noexcept {
  sums[static_cast<std::size_t>(by.op)][static_cast<std::size_t>(by.type)](to, sources, bytes);
}

}  // namespace telpher::coll::between
