// SPDX-License-Identifier: BSD-3-Clause
// The CPU's windows into device memory, where the device has them: opened once for an allocation
// and kept while it lives (the generation tells). See device::backend::map_for_cpu.
#pragma once

#include "memory/memory.hpp"

namespace telpher::memory {

/// Device bytes as the CPU sees them. Valid as long as their allocation.
class window {
 public:
  window() = default;
  window(const place& p, std::byte* address, bool write_combined) noexcept
      : where_(p), address_(address), write_combined_(write_combined) {}

  explicit operator bool() const noexcept { return address_ != nullptr; }
  /// Whether the bytes may be used where they are; else only load() is fast.
  bool direct() const noexcept { return !write_combined_; }
  const std::byte* data() const noexcept { return address_; }

  /// Reads what the device wrote before the call.
  void load(void* to, std::size_t bytes) const noexcept;
  /// Writes; the device's later work sees it.
  void store(const void* from, std::size_t bytes) const noexcept;

 private:
  place where_;
  std::byte* address_ = nullptr;
  bool write_combined_ = false;
};

/// The window at `info`'s byte at `address`; empty if the device has no such windows.
window open_window(const place& p, const device::pointer_info& info, const void* address) noexcept;

/// Closes all windows; part of shut_down.
void release_windows() noexcept;

}  // namespace telpher::memory
