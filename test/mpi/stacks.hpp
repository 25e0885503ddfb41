// SPDX-License-Identifier: BSD-3-Clause
// Where every thread of this process is, on stderr: what a test that does not end was doing.
#pragma once

#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace mpi_test {

inline void write_own_stack(int) {
  void* frames[40];
  const int count = ::backtrace(frames, 40);
  ::backtrace_symbols_fd(frames, count, STDERR_FILENO);
  static_cast<void>(!::write(STDERR_FILENO, "--\n", 3));
}

/// One after the other, each by a signal handler of its own.
inline void write_stacks() {
  void* first[1];
  ::backtrace(first, 1);  // loads what it needs, which a handler must not
  struct sigaction action = {};
  action.sa_handler = write_own_stack;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &action, nullptr);
  DIR* const threads = ::opendir("/proc/self/task");
  if (!threads) return;
  while (const dirent* thread = ::readdir(threads)) {
    const int id = std::atoi(thread->d_name);
    if (id <= 0 || id == static_cast<int>(::syscall(SYS_gettid))) continue;
    ::syscall(SYS_tgkill, ::getpid(), id, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ::closedir(threads);
}

}  // namespace mpi_test
