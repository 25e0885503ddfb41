// SPDX-License-Identifier: BSD-3-Clause
// What this process has on its devices by the program's doing: contexts that it has made or
// destroyed, and copies of its own that are under way there. A runtime that cannot tell has none of
// the functions.
#pragma once

#include "device/gpurt/descriptors.hpp"
#include "device/gpurt/guard.hpp"

namespace telpher::device::gpurt {

template <gpu_runtime R>
class contexts : public descriptors<R> {
 public:
  bool was_reset() noexcept override {
    if constexpr (requires { R::was_reset(); })
      if (!process_exit::begun() && R::was_reset()) return process_exit::begin(), true;
    return false;
  }
  bool in_use(int device) noexcept override {
    if constexpr (requires { R::in_use(device); }) return R::in_use(device);
    return true;
  }
  void settle(const pointer_info& about, bool may_wait) noexcept override {
    if constexpr (requires { R::settle(about, may_wait); }) R::settle(about, may_wait);
  }
};

}  // namespace telpher::device::gpurt
