// SPDX-License-Identifier: BSD-3-Clause
// The exchange kernels with the reductions of one operation (TELPHER_REDUCE_OP); the same text for
// CUDA and HIP. Built once for each operation.
#include "kernel/exchange.hpp"
#include "kernel/inst/grid_constant.hpp"
#include "kernel/reduction.hpp"

#define TELPHER_JOIN_(a, b) a##b
#define TELPHER_JOIN(a, b) TELPHER_JOIN_(a, b)

namespace telpher::kernel {

#define TELPHER_CASE(op, value)                                               \
  __global__ void __launch_bounds__(512)                                      \
      op##_##value##_kernel(TELPHER_GRID_CONSTANT const exchange parameters) { \
    await_previous_launch();                                                  \
    run_exchange<reduction<combine::op, values::value>>(work{}, parameters);  \
  }
TELPHER_JOIN(TELPHER_TYPES_OF_, TELPHER_REDUCE_OP)(TELPHER_CASE)
#undef TELPHER_CASE

/// The kernel for a type, or null.
const void* TELPHER_JOIN(gpu_reduction_, TELPHER_REDUCE_OP)(value_type type) noexcept {
#define TELPHER_CASE(op, value) \
  if (type == value_type::value) return reinterpret_cast<const void*>(&op##_##value##_kernel);
  TELPHER_JOIN(TELPHER_TYPES_OF_, TELPHER_REDUCE_OP)(TELPHER_CASE)
#undef TELPHER_CASE
  return nullptr;
}

}  // namespace telpher::kernel
