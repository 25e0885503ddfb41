// SPDX-License-Identifier: BSD-3-Clause
// The kernels for CUDA.
#include <cuda_runtime.h>

namespace telpher::kernel::vendor {

using error = cudaError_t;
constexpr error success = cudaSuccess;

inline error launch(const void* function, dim3 blocks, dim3 threads, void** arguments,
                    void* stream) {
  return cudaLaunchKernel(function, blocks, threads, arguments, 0,
                          static_cast<cudaStream_t>(stream));
}

inline error load(const void* function) {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, function);
}

}  // namespace telpher::kernel::vendor

// Without __grid_constant__, indexing a parameter struct by a variable copies the struct to each
// thread's local memory.
#define TELPHER_GRID_CONSTANT __grid_constant__
#include "kernel/inst/gpu.inl"
