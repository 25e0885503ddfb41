// SPDX-License-Identifier: BSD-3-Clause
// A kernel for SYCL: a free function that a kernel bundle knows by its name. Its parameters lie in
// memory that the device can read: copy_batch's are more than the 2048 bytes that an Intel GPU
// takes as arguments.
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
