// SPDX-License-Identifier: BSD-3-Clause
// The reductions of one operation for HIP.
#include <hip/hip_runtime.h>

#include "kernel/inst/reduce_gpu.inl"
