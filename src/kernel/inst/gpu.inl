// SPDX-License-Identifier: BSD-3-Clause
// The kernels for a GPU; the same text for CUDA and HIP. The including unit defines `vendor` with
// its own `error`, `success`, `launch` and `load`.
#include "kernel/bodies.hpp"
#include "kernel/gpu.hpp"
#include "kernel/inst/grid_constant.hpp"
#include "kernel/reduction.hpp"

namespace telpher::kernel {

#define TELPHER_KERNEL(name)                                       \
  __global__ void __launch_bounds__(most_threads<name>())                          \
      name##_kernel(TELPHER_GRID_CONSTANT const name parameters) { \
    await_previous_launch();                                       \
    name##_body(work{}, parameters);                               \
  }
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

#define TELPHER_DECLARE(op) const void* gpu_reduction_##op(value_type type) noexcept;
TELPHER_REDUCTION_OPS(TELPHER_DECLARE)
#undef TELPHER_DECLARE

namespace {

const void* const functions[] = {
#define TELPHER_KERNEL(name) reinterpret_cast<const void*>(&name##_kernel),
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
};

const void* reduction_function(int index) {
  const auto type = static_cast<value_type>(index % value_types);
  switch (static_cast<reduce_op>(index / value_types)) {
#define TELPHER_CASE(op) \
  case reduce_op::op:    \
    return gpu_reduction_##op(type);
    TELPHER_REDUCTION_OPS(TELPHER_CASE)
#undef TELPHER_CASE
    case reduce_op::count_:
      break;
  }
  return nullptr;
}

}  // namespace

int gpu_launch(id k, const void* parameters, int blocks, int threads, void* stream) noexcept {
  void* arguments[] = {const_cast<void*>(parameters)};
  const void* function = has_reduction(k) ? reduction_function(reduction_index(k))
                                          : functions[static_cast<int>(k)];
  return static_cast<int>(
      vendor::launch(function, dim3(blocks), dim3(threads), arguments, stream));
}

int gpu_load() noexcept {
  for (const void* function : functions)
    if (const vendor::error e = vendor::load(function); e != vendor::success)
      return static_cast<int>(e);
  for (int i = 0; i < reduce_ops * value_types; ++i) {
    const void* function = reduction_function(i);
    if (!function) continue;
    if (const vendor::error e = vendor::load(function); e != vendor::success)
      return static_cast<int>(e);
  }
  return static_cast<int>(vendor::success);
}

}  // namespace telpher::kernel
