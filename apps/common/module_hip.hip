// SPDX-License-Identifier: BSD-3-Clause
// The applications' kernels for HIP.
#include <hip/hip_runtime.h>

namespace apps::vendor {

using error = hipError_t;
using stream = hipStream_t;
constexpr error success = hipSuccess;

inline const char* error_text(error e) {
  return hipGetErrorString(e);
}
inline error last_error() {
  return hipGetLastError();
}
inline error set_device(int device) {
  return hipSetDevice(device);
}
inline error create_stream(stream* out) {
  return hipStreamCreateWithFlags(out, hipStreamNonBlocking);
}
inline void destroy_stream(stream s) {
  (void)hipStreamDestroy(s);
}
inline error copy(void* to, const void* from, std::size_t bytes, stream s) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s);
}
inline error synchronise(stream s) {
  return hipStreamSynchronize(s);
}

}  // namespace apps::vendor

#include "common/module_gpu.inl"
