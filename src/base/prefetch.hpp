// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace telpher {

/// Prefetches a cache line for writing. On x86-64 the compiler's __builtin_prefetch fetches for
/// reading unless a processor is named with -march; the later write would then have to wait for the
/// line a second time.
inline void prefetch_to_write(void* line) noexcept {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*static_cast<char*>(line)));
#else
  __builtin_prefetch(line, 1);
#endif
}

}  // namespace telpher
