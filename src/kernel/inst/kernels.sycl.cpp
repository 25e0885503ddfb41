// SPDX-License-Identifier: BSD-3-Clause
// The kernels for SYCL: free functions that a kernel bundle knows by their names. Parameters lie in
// memory that the device can read: copy_batch's are more than the 2048 bytes that an Intel GPU
// takes as arguments. Compiled at run time by SYCL's kernel compiler from the text in the plug-in,
// or ahead of time by icpx.
#define TELPHER_COMPILE_SYCL 1
#include "kernel/bodies.hpp"
#include "kernel/kernel.hpp"

namespace telpher::kernel {

#define TELPHER_KERNEL(name)                                      \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(                   \
      (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void \
      telpher_##name(const name* parameters) {                    \
    name##_body(work{}, *parameters);                             \
  }
#define TELPHER_POLLING_KERNEL(name)
#define TELPHER_CODEC_KERNEL(name)
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

}  // namespace telpher::kernel
