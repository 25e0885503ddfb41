// SPDX-License-Identifier: BSD-3-Clause
// The applications' kernels for CUDA.
#include <cuda_runtime.h>

namespace apps::vendor {

using error = cudaError_t;
using stream = cudaStream_t;
constexpr error success = cudaSuccess;

inline const char* error_text(error e) {
  return cudaGetErrorString(e);
}
inline error last_error() {
  return cudaGetLastError();
}
inline error set_device(int device) {
  return cudaSetDevice(device);
}
inline error create_stream(stream* out) {
  return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
}
inline void destroy_stream(stream s) {
  (void)cudaStreamDestroy(s);
}
inline error copy(void* to, const void* from, std::size_t bytes, stream s) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s);
}
inline error synchronise(stream s) {
  return cudaStreamSynchronize(s);
}

}  // namespace apps::vendor

#include "common/module_gpu.inl"
