// SPDX-License-Identifier: BSD-3-Clause
// What a test that does not end was doing: the stack of every thread of this process, and what the
// system says of the test's other processes, which may not be able to say anything themselves.
#pragma once

#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
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

/// The state of a thread and where in the system it waits: "S futex_wait_queue".
inline std::string state_of(const std::filesystem::path& thread) {
  std::string line, place;
  std::getline(std::ifstream(thread / "stat"), line);
  std::getline(std::ifstream(thread / "wchan"), place);
  const std::size_t name = line.rfind(") ");  // the state follows it
  return name == std::string::npos ? "gone" : line.substr(name + 2, 1) + " " + place;
}

/// A line for each process of this program: its threads' states.
inline void print_states() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path own = fs::read_symlink("/proc/self/exe", none);
  for (const fs::directory_entry& process : fs::directory_iterator("/proc", none)) {
    const std::string id = process.path().filename();
    if (std::atoi(id.c_str()) <= 0) continue;
    if (fs::read_symlink(process.path() / "exe", none) != own || none) continue;
    std::string line = "process " + id + ":";
    for (const fs::directory_entry& thread : fs::directory_iterator(process.path() / "task", none))
      line += " " + state_of(thread.path()) + ",";
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace mpi_test
