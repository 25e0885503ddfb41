// SPDX-License-Identifier: BSD-3-Clause
// What a test that does not end was doing: the stack of every thread of this process, and what the
// system says of the test's other processes, which may not be able to say anything themselves.
#pragma once

#include <dirent.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
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

/// Calls `visit(number)` for each entry of a folder of /proc whose name is a number.
template <class Visit>
void for_each_number(const std::string& folder, const Visit& visit) {
  DIR* const entries = ::opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries))
    if (const int number = std::atoi(entry->d_name); number > 0) visit(number);
  ::closedir(entries);
}

/// One after the other, each by a signal handler of its own.
inline void write_stacks() {
  void* first[1];
  ::backtrace(first, 1);  // loads what it needs, which a handler must not
  struct sigaction action = {};
  action.sa_handler = write_own_stack;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR2, &action, nullptr);
  for_each_number("/proc/self/task", [](int thread) {
    if (thread == static_cast<int>(::syscall(SYS_gettid))) return;
    ::syscall(SYS_tgkill, ::getpid(), thread, SIGUSR2);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
}

/// The state of a thread and where in the system it waits: "S futex_wait_queue".
inline std::string state_of(const std::string& thread) {
  std::string line, place;
  std::getline(std::ifstream(thread + "/stat"), line);
  std::getline(std::ifstream(thread + "/wchan"), place);
  const std::size_t name = line.rfind(") ");  // the state follows it
  return name == std::string::npos ? "gone" : line.substr(name + 2, 1) + " " + place;
}

/// A line for each process of this program: its threads' states.
inline void print_states() {
  struct stat own = {};
  if (::stat("/proc/self/exe", &own) != 0) return;
  for_each_number("/proc", [&](int process) {
    const std::string folder = "/proc/" + std::to_string(process), tasks = folder + "/task";
    struct stat program = {};
    if (::stat((folder + "/exe").c_str(), &program) != 0 || program.st_dev != own.st_dev ||
        program.st_ino != own.st_ino)
      return;
    std::string line = "process " + std::to_string(process) + ":";
    for_each_number(tasks, [&](int thread) {
      line += " " + state_of(tasks + "/" + std::to_string(thread)) + ",";
    });
    std::printf("%s\n", line.c_str());
  });
}

}  // namespace mpi_test
