// SPDX-License-Identifier: BSD-3-Clause
// Copies between host memory and a CPU's window into device memory that is write-combined: ordinary
// loads there fetch a few bytes a time over the bus, streaming loads (MOVNTDQA) a line of 64 bytes.
// Right for memory of any kind; only the speed depends on it. A load reads whole lines, so up to 63
// bytes on either side of the range are read and dropped: a window consists of whole pages.
#pragma once

#include <cstddef>
#include <span>

namespace telpher::memory {

/// Reads from the window what devices wrote before the call.
void load_from_window(void* to, const void* window, std::size_t bytes) noexcept;

/// Writes into the window; on return the bytes have left this CPU.
void store_to_window(void* window, const void* from, std::size_t bytes) noexcept;

/// One way of moving whole lines: `window` is aligned to a line, the host's side need not be.
struct line_copy {
  static constexpr std::size_t line = 64;
  const char* name;
  void (*load)(std::byte* to, const std::byte* window, std::size_t lines) noexcept;
  void (*store)(std::byte* window, const std::byte* from, std::size_t lines) noexcept;
};

/// The ways that this CPU knows, the widest last: that one is used.
std::span<const line_copy> line_copies() noexcept;

void load_from_window(const line_copy& by, void* to, const void* window,
                      std::size_t bytes) noexcept;
void store_to_window(const line_copy& by, void* window, const void* from,
                     std::size_t bytes) noexcept;

}  // namespace telpher::memory
