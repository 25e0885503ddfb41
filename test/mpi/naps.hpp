// SPDX-License-Identifier: BSD-3-Clause
// Ranks that wait give their processor away many thousand times a second: the host MPI's, and the
// emulated device's kernels. Where more ranks than processors wait, the kernel is then busy with
// nothing else. In a test program sched_yield is this one, which sleeps once a thread has called it
// a hundred times with little between. With TELPHER_NAP=on only, as test/run.py sets it.
#pragma once

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace mpi_test {

class yields {
 public:
  void one_more() {
    constexpr long little_ns = 20'000, nap_ns = 50'000;
    constexpr int patience = 100;
    if (now_ns() - last_ns_ > little_ns) count_ = 0;
    if (++count_ == patience) ::prctl(PR_SET_TIMERSLACK, 1000);  // else a nap is twice as long
    if (count_ < patience) {
      ::syscall(SYS_sched_yield);
    } else {
      const timespec nap{0, nap_ns};
      ::clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, nullptr);
    }
    last_ns_ = now_ns();
  }

 private:
  static long now_ns() {
    timespec t;
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1'000'000'000L + t.tv_nsec;
  }

  int count_ = 0;
  long last_ns_ = 0;
};

}  // namespace mpi_test

/// Found before the C library's, by all libraries of the process. Weak: a program has several
/// files.
extern "C" __attribute__((weak, visibility("default"))) int sched_yield() noexcept {
  static const bool naps = [] {
    const char* const wanted = std::getenv("TELPHER_NAP");
    return wanted && std::strcmp(wanted, "on") == 0;
  }();
  static thread_local mpi_test::yields own;
  if (naps)
    own.one_more();
  else
    ::syscall(SYS_sched_yield);
  return 0;
}
