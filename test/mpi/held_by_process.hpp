// SPDX-License-Identifier: BSD-3-Clause
// What this process holds of the system: mappings, descriptors, memory.
#pragma once

#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace mpi_test {

inline long count_lines(const char* file) {
  std::ifstream in(file);
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

inline long count_descriptors() {
  long count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

inline long resident_kib() {
  malloc_trim(0);
  long pages = 0;
  std::ifstream in("/proc/self/statm");
  in >> pages >> pages;
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

}  // namespace mpi_test
