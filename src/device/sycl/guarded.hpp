// SPDX-License-Identifier: BSD-3-Clause
// Converts SYCL's exceptions to statuses: every call into SYCL is made inside guarded(). A failure
// is logged here, once, with SYCL's text.
#pragma once

#include <sycl/exception.hpp>

#include <exception>

#include "base/log.hpp"
#include "base/status.hpp"
#include "device/gpurt/guard.hpp"

namespace telpher::device::sycl {

using gpurt::process_exit;

inline status status_of(const ::sycl::exception& e) noexcept {
  using ::sycl::errc;
  if (e.code() == errc::memory_allocation) return status::out_of_memory;
  if (e.code() == errc::feature_not_supported || e.code() == errc::kernel_not_supported)
    return status::not_supported;
  if (e.code() == errc::invalid) return status::invalid_argument;
  return status::device_error;
}

/// Runs `call`, which returns a status.
template <class F>
status guarded(const char* what, F&& call) noexcept {
  if (process_exit::begun()) return status::device_error;
  try {
    return call();
  } catch (const ::sycl::exception& e) {
    const status s = status_of(e);
    if (s == status::not_supported)
      TELPHER_TRACE("sycl %s: %s", what, e.what());
    else
      TELPHER_ERROR("sycl %s failed: %s", what, e.what());
    return s;
  } catch (const std::bad_alloc&) {
    TELPHER_ERROR("sycl %s failed: out of host memory", what);
    return status::out_of_memory;
  } catch (const std::exception& e) {
    TELPHER_ERROR("sycl %s failed: %s", what, e.what());
    return status::device_error;
  }
}

}  // namespace telpher::device::sycl
