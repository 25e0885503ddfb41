// SPDX-License-Identifier: BSD-3-Clause
// Host memory that is recognised by its address alone: the calling thread's stack, the program's
// static data and its brk heap. A driver query takes half a microsecond for an address that the
// driver does not know, and every call of a program that keeps to host memory comes by here. So
// this is a few comparisons, in line. No answer is cached: a range that is host memory now may
// become device memory after an munmap.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/address_range.hpp"
#include "base/thread_local.hpp"

namespace telpher::memory {

/// The ranges that are the same for all threads. Empty until a thread has looked up an address
/// after the back ends were opened; then they stay as they are. Whoever sees an end that is not
/// zero sees the right start.
struct fixed_host_ranges {
  std::atomic<std::uintptr_t> data_first{0};
  std::atomic<std::uintptr_t> data_bytes{0};
  std::atomic<std::uintptr_t> heap_first{0};
  std::atomic<char* const*> heap_end{&no_heap};  // where the C library keeps the program break

  static constexpr char* no_heap = nullptr;
};
extern constinit fixed_host_ranges host_ranges;
extern constinit thread_local TELPHER_NEAR_TLS address_range own_stack;  // empty: not looked up yet

/// The first look-up of a thread.
[[gnu::cold, gnu::noinline]] bool surely_host_slow(std::uintptr_t address) noexcept;

/// Whether an address is certainly host memory. False means unknown. Of a stack nothing is known
/// before its thread's first look-up, and of other memory nothing before the first of any thread.
[[gnu::always_inline]] inline bool known_host(const void* address) noexcept {
  const auto a = reinterpret_cast<std::uintptr_t>(address);
  const fixed_host_ranges& r = host_ranges;
  const std::uintptr_t data_bytes = r.data_bytes.load(std::memory_order_acquire);
  if (a - r.data_first.load(std::memory_order_relaxed) < data_bytes || own_stack.holds(a))
    return true;
  char* const* const end = r.heap_end.load(std::memory_order_acquire);
  return a < reinterpret_cast<std::uintptr_t>(__atomic_load_n(end, __ATOMIC_RELAXED)) &&
         a >= r.heap_first.load(std::memory_order_relaxed);
}
/// The same, after that look-up.
inline bool surely_host(const void* address) noexcept {
  if (own_stack.last == 0) [[unlikely]]
    return surely_host_slow(reinterpret_cast<std::uintptr_t>(address));
  return known_host(address);
}

}  // namespace telpher::memory
