// SPDX-License-Identifier: BSD-3-Clause
// The kernels for HIP.
#include <hip/hip_runtime.h>

namespace telpher::kernel::vendor {

using error = hipError_t;
constexpr error success = hipSuccess;

inline error launch(const void* function, dim3 blocks, dim3 threads, void** arguments,
                    void* stream) {
  return hipLaunchKernel(function, blocks, threads, arguments, 0, static_cast<hipStream_t>(stream));
}

inline error load(const void* function) {
  hipFuncAttributes attributes;
  return hipFuncGetAttributes(&attributes, function);
}

}  // namespace telpher::kernel::vendor

#include "kernel/inst/gpu.inl"
