// SPDX-License-Identifier: BSD-3-Clause
// Injected faults. TELPHER_TEST_EMU_FAULTS is a list of "call:n" (the n-th call fails, counted from
// 1) and "call:n+" (it and all later ones fail). Calls: malloc, pinned, memcpy, launch, ipc_get,
// ipc_open, register, event; kernel (a launch of a kernel that the device does not have); die (a
// kernel that is launched and then faults without doing anything; the next event or synchronisation
// of its stream reports it).
#pragma once

#include <atomic>
#include <cstddef>

#include "device/emu/errors.hpp"

namespace telpher::device::emu {

enum class fault_point : int {
  malloc,
  pinned,
  memcpy,
  launch,
  ipc_get,
  ipc_open,
  register_,
  event,
  kernel,
  die,
  count_
};

class fault_table {
 public:
  static fault_table& instance() noexcept;  // reads the setting at first use

  /// Replaces the table. Entries that cannot be parsed are logged and ignored.
  void set(const char* text) noexcept;

  /// Counts a call; true if it must fail.
  bool strikes(fault_point p) noexcept {
    return armed_.load(std::memory_order_relaxed) && strikes_slow(p);
  }
  /// Calls that had to fail, so far.
  long struck() const noexcept { return struck_; }

 private:
  static constexpr int points = static_cast<int>(fault_point::count_);
  struct row {
    std::atomic<long> calls{0};
    std::atomic<long> first{0};  // 0: never
    std::atomic<bool> after{false};
  };
  bool strikes_slow(fault_point p) noexcept;
  bool set_one(const char* entry, std::size_t length) noexcept;

  std::atomic<bool> armed_{false};
  std::atomic<long> struck_{0};
  row rows_[points];
};

}  // namespace telpher::device::emu
