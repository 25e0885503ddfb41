// SPDX-License-Identifier: BSD-3-Clause
// Properties of an allocation that SYCL itself does not report: where it begins, its size, and a
// number that differs when the address is reused. They are asked from the driver below (OpenCL's
// unified memory extension, Level Zero), which is already in the process.
#pragma once

#include <sycl/context.hpp>

#include <cstdint>

#include "base/status.hpp"

namespace telpher::device::sycl {

struct allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t identity = 0;  // 0: the driver has none
};

/// A context as its driver knows it. Trivially copyable; lives as long as the context.
class native_context {
 public:
  native_context() = default;
  /// Throws what SYCL throws.
  explicit native_context(const ::sycl::context& context);

  /// not_supported if the driver does not know the address or cannot be asked.
  status describe(const void* address, allocation& out) const noexcept;
  ::sycl::backend driver() const noexcept { return driver_; }
  void* handle() const noexcept { return handle_; }

 private:
  status ask_opencl(const void* address, allocation& out) const noexcept;
  status ask_level_zero(const void* address, allocation& out) const noexcept;

  ::sycl::backend driver_ = ::sycl::backend::all;
  void* handle_ = nullptr;
  void* query_ = nullptr;  // OpenCL: the extension's function
};

}  // namespace telpher::device::sycl
