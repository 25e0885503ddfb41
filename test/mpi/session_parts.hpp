// SPDX-License-Identifier: BSD-3-Clause
// What the programs with sessions share: failures without a suite, because MPI_Init is never
// called, and a check that memory of every kind arrives on a communicator by every kind of call.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <string>

#include "memory.hpp"

namespace session_test {

inline int failures = 0;

inline void expect(bool good, const char* what) {
  if (good) return;
  std::printf("FAILED sessions: %s\n", what);
  ++failures;
}

inline void expect_none(const std::string& problem, const char* what) {
  if (!problem.empty()) expect(false, (std::string(what) + ": " + problem).c_str());
}

// Of Open MPI 5 only where all ranks of MPI_COMM_WORLD take part, after MPI_Init.
#ifdef OPEN_MPI
constexpr bool host_has_partitions = false;
#else
constexpr bool host_has_partitions = true;
#endif

struct place {
  int rank = 0, size = 0;
  explicit place(MPI_Comm comm) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
  }
  int next() const { return (rank + 1) % size; }
  int before() const { return (rank + size - 1) % size; }
};

/// Messages of every form, collectives and windows, in every kind of memory. Ranks without a device
/// take host memory where others take device memory.
void use(MPI_Comm comm, const char* what);

}  // namespace session_test
