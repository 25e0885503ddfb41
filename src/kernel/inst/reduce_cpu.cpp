// SPDX-License-Identifier: BSD-3-Clause
// The exchange kernels for the CPU with the reductions of one operation (TELPHER_REDUCE_OP). Built
// once for each operation, so that no unit takes long to compile.
#include "kernel/cpu.hpp"
#include "kernel/exchange.hpp"
#include "kernel/reduction.hpp"

#define TELPHER_JOIN_(a, b) a##b
#define TELPHER_JOIN(a, b) TELPHER_JOIN_(a, b)

namespace telpher::kernel {

cpu_kernel TELPHER_JOIN(cpu_reduction_, TELPHER_REDUCE_OP)(value_type type) noexcept {
#define TELPHER_CASE(op, value)                                                    \
  if (type == value_type::value)                                                   \
    return {#op "_" #value, sizeof(exchange),                                      \
            [](const void* parameters, unsigned block, unsigned blocks) {          \
              run_exchange<reduction<combine::op, values::value>>(                 \
                  work(block, blocks), *static_cast<const exchange*>(parameters)); \
            }};
  TELPHER_JOIN(TELPHER_TYPES_OF_, TELPHER_REDUCE_OP)
  (TELPHER_CASE)
#undef TELPHER_CASE
      return {};
}

}  // namespace telpher::kernel
