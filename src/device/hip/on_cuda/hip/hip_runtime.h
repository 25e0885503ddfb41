// SPDX-License-Identifier: BSD-3-Clause
// HIP's interface for units with kernels, on NVIDIA's hardware; see hip_runtime_api.h beside it. In
// kernels nvcc's own built-ins are used, because HIP has the same names.
#ifndef TELPHER_HIP_ON_CUDA_RUNTIME_H
#define TELPHER_HIP_ON_CUDA_RUNTIME_H

#include <cuda_runtime.h>

#include "hip/hip_runtime_api.h"

inline hipError_t hipLaunchKernel(const void* function, dim3 blocks, dim3 threads,
                                  void** arguments, std::size_t shared_bytes, hipStream_t s) {
  return cudaLaunchKernel(function, blocks, threads, arguments, shared_bytes, s);
}
inline hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return cudaFuncGetAttributes(attributes, function);
}

#endif
