// SPDX-License-Identifier: BSD-3-Clause
// What stands between a program and its kernels: one module for each back end, a shared library
// that holds every kernel of kernels.def compiled for it and the few calls that work needs. A
// program is plain C++ and picks the module at run time. Every call answers null, or a text that
// says what failed.
#pragma once

#include <cstddef>

#include "common/kernels.hpp"

namespace apps {

enum class kernel_id : int {
#define APPS_KERNEL(application, name) application##_##name,
#include "common/kernels.def"
#undef APPS_KERNEL
  count_
};

/// The number of a kernel struct.
template <class K>
struct kernel_number;
#define APPS_KERNEL(application, name)                                  \
  template <>                                                           \
  struct kernel_number<application::name> {                             \
    static constexpr kernel_id value = kernel_id::application##_##name; \
  };
#include "common/kernels.def"
#undef APPS_KERNEL

struct module {
  /// A queue on a device: what is put into it runs in order, beside the caller.
  const char* (*open)(int device, void** queue);
  void (*close)(void* queue);
  /// `parameters` is the kernel's struct, copied before the call returns.
  const char* (*launch)(void* queue, kernel_id kernel, const void* parameters, index items);
  /// Between addresses as kernels use them, and host memory.
  const char* (*copy)(void* queue, void* to, const void* from, std::size_t bytes);
  const char* (*wait)(void* queue);
  /// The queue as a stream for calls of MPI that enqueue; null where there is none.
  void* (*stream)(void* queue);
};

/// The module linked into the program: the emulated device's, whose kernels are CPU code.
const module& cpu_module();

/// The function by which a shared module is found.
constexpr const char* module_symbol = "telpher_apps_module";
using module_function = const module*();

}  // namespace apps
