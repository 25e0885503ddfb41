// SPDX-License-Identifier: BSD-3-Clause
// What SYCL itself does not tell about an allocation: where it begins, how long it is, and a number
// that differs when the address is used again. Asked from the driver below (OpenCL's unified memory
// extension, Level Zero), which is in the process already.
#pragma once

#include <sycl/context.hpp>

#include <cstdint>

#include "base/status.hpp"

namespace telpher::device::sycl {

struct allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  std::uint64_t identity = 0;  // 0: the driver tells none
};

/// One context as its driver knows it. Plain data; lives as long as the context.
class native_context {
 public:
  native_context() = default;
  /// Throws what SYCL throws.
  explicit native_context(const ::sycl::context& context);

  /// not_supported for an address that the driver does not know, or a driver that cannot be asked.
  status describe(const void* address, allocation& out) const noexcept;

 private:
  status ask_opencl(const void* address, allocation& out) const noexcept;
  status ask_level_zero(const void* address, allocation& out) const noexcept;

  ::sycl::backend driver_ = ::sycl::backend::all;
  void* handle_ = nullptr;
  void* query_ = nullptr;  // OpenCL: the extension's function
};

}  // namespace telpher::device::sycl
