// SPDX-License-Identifier: BSD-3-Clause
// The kernels for CUDA.
#include <cuda_runtime.h>

#include <atomic>

namespace telpher::kernel::vendor {

using error = cudaError_t;
constexpr error success = cudaSuccess;

// Whether the kernels of a device wait for the launch before them: by the architecture that they
// were compiled for.
constexpr int most_devices = 64;
inline std::atomic<bool> await_previous[most_devices];

// Not in a capture: programs that ask for its dependencies by older calls would get an error. Nor
// in a default stream, which waits for others.
inline bool may_prepare(cudaStream_t stream) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return false;
  int device = 0;
  cudaStreamCaptureStatus captures{};
  return cudaGetDevice(&device) == success && device < most_devices &&
         await_previous[device].load(std::memory_order_relaxed) &&
         cudaStreamIsCapturing(stream, &captures) == success &&
         captures == cudaStreamCaptureStatusNone;
}

inline error launch(const void* function, dim3 blocks, dim3 threads, void** arguments,
                    void* native) {
  const auto stream = static_cast<cudaStream_t>(native);
  if (!may_prepare(stream))
    return cudaLaunchKernel(function, blocks, threads, arguments, 0, stream);
  cudaLaunchAttribute prepared{};
  prepared.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  prepared.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = blocks;
  how.blockDim = threads;
  how.stream = stream;
  how.attrs = &prepared;
  how.numAttrs = 1;
  return cudaLaunchKernelExC(&how, function, arguments);
}

inline error load(const void* function) {
  cudaFuncAttributes attributes;
  const error e = cudaFuncGetAttributes(&attributes, function);
  int device = 0;
  if (e == success && cudaGetDevice(&device) == success && device < most_devices)
    await_previous[device].store(attributes.ptxVersion >= 90, std::memory_order_relaxed);
  return e;
}

}  // namespace telpher::kernel::vendor

#include "kernel/inst/gpu.inl"
