// SPDX-License-Identifier: BSD-3-Clause
// An event that the host completes, which SYCL itself does not have: OpenCL's user event, or one of
// Level Zero that the host may signal. Functions throw what SYCL throws.
#pragma once

#include <sycl/event.hpp>

#include <optional>

#include "device/sycl/places.hpp"

namespace telpher::device::sycl {

class host_event {
 public:
  static bool possible(const place& where) noexcept;
  explicit host_event(const place& where);
  ~host_event();
  host_event(const host_event&) = delete;
  host_event& operator=(const host_event&) = delete;

  const ::sycl::event& event() const noexcept { return *event_; }
  void end() noexcept;

 private:
  void* native_ = nullptr;
  void* pool_ = nullptr;  // Level Zero's
  std::optional<::sycl::event> event_;
};

}  // namespace telpher::device::sycl
