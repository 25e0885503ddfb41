// SPDX-License-Identifier: BSD-3-Clause
// How a thread that polls for long spares the processor.
#pragma once

#include <sched.h>
#include <time.h>

namespace telpher {

/// A pass that moves nothing is followed by a pause: none, then the processor is offered to others,
/// and after a millisecond or so the thread sleeps between passes, for what takes long.
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
