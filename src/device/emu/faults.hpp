// SPDX-License-Identifier: BSD-3-Clause
// Injected faults. TELPHER_EMU_FAULTS is a list "call:n" (the n-th call fails, counted from 1) or
// "call:n+" (it and all after it). Calls: malloc, pinned, memcpy, launch, ipc_get, ipc_open,
// register, event, kernel: a launch of a kernel that the device does not have, and die: a kernel
// that is launched and then faults, doing nothing. The next event or synchronisation of its stream
// says so.
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

  /// Replaces the table; logs and ignores entries that it cannot read.
  void set(const char* text) noexcept;

  /// Counts a call; true if it must fail.
  bool strikes(fault_point p) noexcept {
    return armed_.load(std::memory_order_relaxed) && strikes_slow(p);
  }

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
  row rows_[points];
};

}  // namespace telpher::device::emu
