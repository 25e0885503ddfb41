// SPDX-License-Identifier: BSD-3-Clause
// A SYCL kernel as a free function, which a kernel bundle finds by name. Its parameters lie in
// memory that the device can read, because copy_batch's are larger than the 2048 bytes of arguments
// that an Intel GPU accepts.
#pragma once

#include "kernel/kernel.hpp"

#define TELPHER_SYCL_FUNCTION(name, parameter)                    \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(                   \
      (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void \
  name(parameter)

#define TELPHER_SYCL_KERNEL(name)                                 \
  TELPHER_SYCL_FUNCTION(telpher_##name, const name* parameters) { \
    name##_body(work{}, *parameters);                             \
  }
