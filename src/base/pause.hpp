// SPDX-License-Identifier: BSD-3-Clause
// How a thread that polls for a long time leaves the processor to others.
#pragma once

#include <sched.h>
#include <time.h>

namespace telpher {

/// Between two looks at what another thread changes soon.
inline void relax_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Called after a pass that moved nothing, with the number of such passes in a row. At first it
/// does nothing. From brisk_passes on it offers the processor to other threads. From patient_passes
/// on (after a millisecond or so) it sleeps for `nap_ns`.
constexpr int brisk_passes = 64, patient_passes = 4096;
inline void pause(long idle_passes, long nap_ns) noexcept {
  if (idle_passes < brisk_passes) return;
  if (idle_passes < patient_passes) {
    sched_yield();
    return;
  }
  const timespec nap{0, nap_ns};
  nanosleep(&nap, nullptr);
}

}  // namespace telpher
