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

/// What a thread does after passes that moved nothing, by their number in a row: first nothing,
/// then it relaxes the processor, then it offers it to other threads, then it sleeps.
struct pace {
  long relaxes, yields, sleeps;  // the number from which on
  long nap_ns;
};
constexpr long brisk_passes = 64, patient_passes = 4096, never = 1L << 62;  // 4096: a millisecond
constexpr pace patient{never, brisk_passes, patient_passes, 20'000};
/// For waits of microseconds. A relaxed look takes as long as a pass, and a yield longer.
constexpr pace brisk{brisk_passes, 2000, never, 0};

/// Called after a pass that moved nothing. True if it has slept.
inline bool pause(long idle_passes, const pace& p = patient) noexcept {
  if (idle_passes >= p.sleeps) {
    const timespec nap{0, p.nap_ns};
    nanosleep(&nap, nullptr);
    return true;
  }
  if (idle_passes >= p.yields)
    sched_yield();
  else if (idle_passes >= p.relaxes)
    relax_processor();
  return false;
}

}  // namespace telpher
