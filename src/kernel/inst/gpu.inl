// SPDX-License-Identifier: BSD-3-Clause
// The kernels for a GPU, the same text for CUDA and HIP. The including unit defines `vendor` with
// `error`, `success`, `launch` and `load` in its own terms, and TELPHER_GRID_CONSTANT.
#include "kernel/bodies.hpp"
#include "kernel/gpu.hpp"

namespace telpher::kernel {

#define TELPHER_KERNEL(name)                                       \
  __global__ void __launch_bounds__(most_threads<name>())                          \
      name##_kernel(TELPHER_GRID_CONSTANT const name parameters) { \
    name##_body(work{}, parameters);                               \
  }
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

namespace {

const void* const functions[] = {
#define TELPHER_KERNEL(name) reinterpret_cast<const void*>(&name##_kernel),
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
};

}  // namespace

int gpu_launch(id k, const void* parameters, int blocks, int threads, void* stream) noexcept {
  void* arguments[] = {const_cast<void*>(parameters)};
  return static_cast<int>(vendor::launch(functions[static_cast<int>(k)], dim3(blocks),
                                         dim3(threads), arguments, stream));
}

int gpu_load() noexcept {
  for (const void* function : functions)
    if (const vendor::error e = vendor::load(function); e != vendor::success)
      return static_cast<int>(e);
  return static_cast<int>(vendor::success);
}

}  // namespace telpher::kernel
