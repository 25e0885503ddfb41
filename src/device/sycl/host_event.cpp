// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/host_event.hpp"

#include <sycl/backend.hpp>
#include <sycl/backend/opencl.hpp>
#include <sycl/ext/oneapi/backend/level_zero.hpp>

#include <stdexcept>
#include <vector>

#include "base/library.hpp"

namespace telpher::device::sycl {
namespace {

struct opencl {
  cl_event (*create)(cl_context, cl_int*) = nullptr;
  cl_int (*set)(cl_event, cl_int) = nullptr;
  cl_int (*release)(cl_event) = nullptr;
};

const opencl& opencl_functions() noexcept {
  static const opencl functions = [] {
    opencl f;
    const library loader = library::already_open("libOpenCL.so.1");
    return loader.find("clCreateUserEvent", f.create) &&
                   loader.find("clSetUserEventStatus", f.set) &&
                   loader.find("clReleaseEvent", f.release)
               ? f
               : opencl{};
  }();
  return functions;
}

// Level Zero's functions and structs according to its specification 1.0. Compiled, but not run.
struct ze_event_pool_description {
  std::uint32_t structure = 0x10;  // ZE_STRUCTURE_TYPE_EVENT_POOL_DESC
  const void* next = nullptr;
  std::uint32_t flags = 1;  // ZE_EVENT_POOL_FLAG_HOST_VISIBLE
  std::uint32_t count = 1;
};
struct ze_event_description {
  std::uint32_t structure = 0x11;  // ZE_STRUCTURE_TYPE_EVENT_DESC
  const void* next = nullptr;
  std::uint32_t index = 0;
  std::uint32_t signal = 0;
  std::uint32_t wait = 4;  // ZE_EVENT_SCOPE_FLAG_HOST
};

struct level_zero {
  int (*create_pool)(void* context, const ze_event_pool_description*, std::uint32_t, void*,
                     void** out) = nullptr;
  int (*destroy_pool)(void* pool) = nullptr;
  int (*create)(void* pool, const ze_event_description*, void** out) = nullptr;
  int (*destroy)(void* event) = nullptr;
  int (*signal)(void* event) = nullptr;
};

const level_zero& level_zero_functions() noexcept {
  static const level_zero functions = [] {
    level_zero f;
    const library loader = library::already_open("libze_loader.so.1");
    return loader.find("zeEventPoolCreate", f.create_pool) &&
                   loader.find("zeEventPoolDestroy", f.destroy_pool) &&
                   loader.find("zeEventCreate", f.create) &&
                   loader.find("zeEventDestroy", f.destroy) &&
                   loader.find("zeEventHostSignal", f.signal)
               ? f
               : level_zero{};
  }();
  return functions;
}

bool is_opencl(const place& where) noexcept {
  return where.native.driver() == ::sycl::backend::opencl;
}

}  // namespace

bool host_event::possible(const place& where) noexcept {
  if (is_opencl(where)) return opencl_functions().create;
  return where.native.driver() == ::sycl::backend::ext_oneapi_level_zero &&
         level_zero_functions().create;
}

host_event::host_event(const place& where) {
  using ::sycl::backend;
  if (is_opencl(where)) {
    cl_int code = 0;
    cl_event made =
        opencl_functions().create(static_cast<cl_context>(where.native.handle()), &code);
    if (!made) throw std::runtime_error("clCreateUserEvent failed");
    native_ = made;
    event_ = ::sycl::make_event<backend::opencl>(std::vector<cl_event>{made}, where.context);
    return;
  }
  const level_zero& f = level_zero_functions();
  const ze_event_pool_description pool;
  const ze_event_description description;
  if (f.create_pool(where.native.handle(), &pool, 0, nullptr, &pool_) != 0)
    throw std::runtime_error("zeEventPoolCreate failed");
  if (f.create(pool_, &description, &native_) != 0) {
    f.destroy_pool(pool_);
    throw std::runtime_error("zeEventCreate failed");
  }
  event_ = ::sycl::make_event<backend::ext_oneapi_level_zero>(
      {static_cast<ze_event_handle_t>(native_), ::sycl::ext::oneapi::level_zero::ownership::keep},
      where.context);
}

// SYCL has a reference of its own to OpenCL's; Level Zero's must outlive the work that waits for
// it.
host_event::~host_event() {
  event_.reset();
  if (!pool_) {
    opencl_functions().release(static_cast<cl_event>(native_));
  } else {
    level_zero_functions().destroy(native_);
    level_zero_functions().destroy_pool(pool_);
  }
}

void host_event::end() noexcept {
  if (pool_)
    level_zero_functions().signal(native_);
  else
    opencl_functions().set(static_cast<cl_event>(native_), CL_COMPLETE);
}

}  // namespace telpher::device::sycl
