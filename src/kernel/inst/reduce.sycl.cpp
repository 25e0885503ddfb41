// SPDX-License-Identifier: BSD-3-Clause
// Reductions for SYCL. At run time each pair of operation and value is compiled separately, when it
// is first needed: the caller puts a line before this text that defines TELPHER_REDUCTIONS(X) as
// X(operation, value). Ahead of time, without that line, all pairs are compiled.
#define TELPHER_COMPILE_SYCL 1
#include "kernel/reduction.hpp"
#include "kernel/reductions.hpp"
#include "kernel/sycl_kernel.hpp"

#ifndef TELPHER_REDUCTIONS
#define TELPHER_PAIRS_OF(op) TELPHER_TYPES_OF_##op(TELPHER_REDUCTION_KERNEL)
#define TELPHER_REDUCTIONS(X) TELPHER_REDUCTION_OPS(TELPHER_PAIRS_OF)
#endif

namespace telpher::kernel {

#define TELPHER_REDUCTION_KERNEL(op, value)                                   \
  TELPHER_SYCL_FUNCTION(telpher_##op##_##value, const exchange* parameters) { \
    run_reductions<combine::op, values::value>(work{}, *parameters);          \
  }
TELPHER_REDUCTIONS(TELPHER_REDUCTION_KERNEL)

}  // namespace telpher::kernel
