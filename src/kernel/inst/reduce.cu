// SPDX-License-Identifier: BSD-3-Clause
// The reductions of one operation for CUDA.
#include <cuda_runtime.h>

#define TELPHER_GRID_CONSTANT __grid_constant__
#include "kernel/inst/reduce_gpu.inl"
