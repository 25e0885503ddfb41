// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include "kernel/inst/cpu_entry.hpp"
#include "kernel/reduction.hpp"

namespace telpher::kernel {

#define TELPHER_DECLARE(op) cpu_kernel cpu_reduction_##op(value_type type) noexcept;
TELPHER_REDUCTION_OPS(TELPHER_DECLARE)
#undef TELPHER_DECLARE

namespace {

using reduction_table = std::array<cpu_kernel, reduce_ops * value_types>;

reduction_table make_reduction_table() {
  reduction_table table{};
  std::size_t next = 0;
#define TELPHER_FILL(op)                \
  for (int t = 0; t < value_types; ++t) \
    table[next++] = cpu_reduction_##op(static_cast<value_type>(t));
  TELPHER_REDUCTION_OPS(TELPHER_FILL)
#undef TELPHER_FILL
  return table;
}

const cpu_kernel& cpu_reduction_of(id k) {
  static const reduction_table table = make_reduction_table();
  return table[static_cast<std::size_t>(reduction_index(k))];
}

}  // namespace

const cpu_kernel& cpu_kernel_of(id k) noexcept {
  if (has_reduction(k)) return cpu_reduction_of(k);
  static const cpu_kernel table[] = {
#define TELPHER_KERNEL(name) TELPHER_CPU_ENTRY(name),
#define TELPHER_CODEC_KERNEL(name) cpu_codec_of(id::name),
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
  };
  static_assert(sizeof table / sizeof table[0] == static_cast<std::size_t>(id::count_));
  return table[static_cast<int>(k)];
}

}  // namespace telpher::kernel
