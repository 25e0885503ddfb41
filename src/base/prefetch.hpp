// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace telpher {

/// Begins to fetch a cache line that will be written here soon. The compiler's own form fetches for
/// reading on x86-64 unless it is told of a processor, and the write would then wait once more.
inline void prefetch_to_write(void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace telpher
