// SPDX-License-Identifier: BSD-3-Clause
// Copies between host memory and a CPU window into device memory that is write-combined. There
// ordinary loads fetch a few bytes at a time over the bus, while streaming loads (MOVNTDQA) fetch a
// line of 64 bytes. The functions are correct for any memory; only the speed depends on its kind.
// Loads read whole lines, so up to 63 bytes before and after the range are read and dropped. This
// is safe because a window consists of whole pages.
#pragma once

#include <cstddef>
#include <span>

namespace telpher::memory {

/// Copies from the window; sees what devices wrote before the call.
void load_from_window(void* to, const void* window, std::size_t bytes) noexcept;

/// Copies into the window. On return the bytes have left this CPU.
void store_to_window(void* window, const void* from, std::size_t bytes) noexcept;

/// One way to move whole lines. `window` is aligned to a line; the host side need not be.
struct line_copy {
  static constexpr std::size_t line = 64;
  const char* name;
  void (*load)(std::byte* to, const std::byte* window, std::size_t lines) noexcept;
  void (*store)(std::byte* window, const std::byte* from, std::size_t lines) noexcept;
};

/// The ways that this CPU supports, the widest last. The widest is used.
std::span<const line_copy> line_copies() noexcept;

void load_from_window(const line_copy& by, void* to, const void* window,
                      std::size_t bytes) noexcept;
void store_to_window(const line_copy& by, void* window, const void* from,
                     std::size_t bytes) noexcept;

}  // namespace telpher::memory
