// SPDX-License-Identifier: BSD-3-Clause
// The text that SYCL's run-time compiler gets: every kernel as a free function, found by its name.
// Parameters are read from memory, since an Intel GPU takes few bytes as arguments.
#include <sycl/sycl.hpp>

#include "common/kernels.hpp"

#define APPS_KERNEL(application, name)                                                        \
  extern "C" SYCL_EXT_ONEAPI_FUNCTION_PROPERTY(                                               \
      (sycl::ext::oneapi::experimental::nd_range_kernel<1>)) void                             \
      apps_##application##_##name(const apps::application::name* kernel, apps::index items) { \
    const auto item = sycl::ext::oneapi::this_work_item::get_nd_item<1>();                    \
    const auto i = static_cast<apps::index>(item.get_global_id(0));                           \
    if (i < items) (*kernel)(i);                                                              \
  }
#include "common/kernels.def"
