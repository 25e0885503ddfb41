// SPDX-License-Identifier: BSD-3-Clause
// CPU windows into device memory, on devices that support them (device::backend::map_for_cpu). Each
// is opened once for an allocation and kept as its facet.
#pragma once

#include "memory/memory.hpp"

namespace telpher::memory {

/// Device memory as the CPU sees it. Valid as long as its allocation.
class window {
 public:
  window() = default;
  window(const place& p, std::byte* address, bool write_combined) noexcept
      : where_(p), address_(address), write_combined_(write_combined) {}

  explicit operator bool() const noexcept { return address_ != nullptr; }
  /// Whether the CPU may use data() in place. If not (write-combined), only load() is fast.
  bool direct() const noexcept { return !write_combined_; }
  const std::byte* data() const noexcept { return address_; }

  /// Copies out of the window; sees what the device wrote before the call.
  void load(void* to, std::size_t bytes) const noexcept;
  /// Copies into the window; work that the device starts later sees it.
  void store(const void* from, std::size_t bytes) const noexcept;

 private:
  place where_;
  std::byte* address_ = nullptr;
  bool write_combined_ = false;
};

/// The window at device address `address` of the allocation `info`; empty if the device has no
/// windows or this allocation cannot be mapped.
window open_window(const place& p, const device::pointer_info& info, const void* address) noexcept;

}  // namespace telpher::memory
