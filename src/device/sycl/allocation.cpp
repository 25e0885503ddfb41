// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/allocation.hpp"

#include <sycl/backend.hpp>
#include <sycl/ext/oneapi/backend/level_zero.hpp>
#include <sycl/platform.hpp>

#include "base/library.hpp"

namespace telpher::device::sycl {
namespace {

// Level Zero's functions and struct according to its specification 1.0. Compiled, but not run.
struct ze_allocation_properties {
  std::uint32_t structure = 0x17;  // ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES
  void* next = nullptr;
  std::uint32_t type = 0;
  std::uint64_t id = 0;
  std::uint64_t page_bytes = 0;
};

using ze_range_function = int(void* context, const void* address, void** base, std::size_t* bytes);
using ze_properties_function = int(void* context, const void* address,
                                   ze_allocation_properties* out, void** device);

struct level_zero {
  ze_range_function* range = nullptr;
  ze_properties_function* properties = nullptr;
};

const level_zero& level_zero_functions() noexcept {
  static const level_zero functions = [] {
    level_zero f;
    const library loader = library::already_open("libze_loader.so.1");
    return loader.find("zeMemGetAddressRange", f.range) &&
                   loader.find("zeMemGetAllocProperties", f.properties)
               ? f
               : level_zero{};
  }();
  return functions;
}

}  // namespace

native_context::native_context(const ::sycl::context& context) : driver_(context.get_backend()) {
  using ::sycl::backend;
  if (driver_ == backend::opencl) {
    // get_native adds a reference, which is kept: this object lives as long as the process.
    handle_ = ::sycl::get_native<backend::opencl>(context);
    using find_function = void*(cl_platform_id, const char*);
    find_function* find = nullptr;
    if (library::already_open("libOpenCL.so.1")
            .find("clGetExtensionFunctionAddressForPlatform", find))
      query_ = find(::sycl::get_native<backend::opencl>(context.get_platform()),
                    "clGetMemAllocInfoINTEL");
  } else if (driver_ == backend::ext_oneapi_level_zero) {
    handle_ = ::sycl::get_native<backend::ext_oneapi_level_zero>(context);
  }
}

status native_context::describe(const void* address, allocation& out) const noexcept {
  if (driver_ == ::sycl::backend::opencl) return ask_opencl(address, out);
  if (driver_ == ::sycl::backend::ext_oneapi_level_zero) return ask_level_zero(address, out);
  return status::not_supported;
}

status native_context::ask_opencl(const void* address, allocation& out) const noexcept {
  const auto ask = reinterpret_cast<clGetMemAllocInfoINTEL_fn>(query_);
  const auto context = static_cast<cl_context>(handle_);
  void* base = nullptr;
  std::size_t bytes = 0;
  if (!ask ||
      ask(context, address, CL_MEM_ALLOC_BASE_PTR_INTEL, sizeof base, &base, nullptr) !=
          CL_SUCCESS ||
      ask(context, address, CL_MEM_ALLOC_SIZE_INTEL, sizeof bytes, &bytes, nullptr) != CL_SUCCESS)
    return status::not_supported;
  out = {reinterpret_cast<std::uintptr_t>(base), bytes, 0};
  return status::ok;
}

status native_context::ask_level_zero(const void* address, allocation& out) const noexcept {
  const level_zero& functions = level_zero_functions();
  void* base = nullptr;
  std::size_t bytes = 0;
  ze_allocation_properties properties;
  if (!functions.range || functions.range(handle_, address, &base, &bytes) != 0 ||
      functions.properties(handle_, address, &properties, nullptr) != 0)
    return status::not_supported;
  out = {reinterpret_cast<std::uintptr_t>(base), bytes, properties.id};
  return status::ok;
}

}  // namespace telpher::device::sycl
