// SPDX-License-Identifier: BSD-3-Clause
// What the programs with sessions share: communicators of the session's processes, and a check that
// memory of every kind arrives on a communicator by every kind of call.
#pragma once

#include <mpi.h>

#include "memory.hpp"

namespace session_test {

extern int failures;
void expect(bool good, const char* what);
void expect_none(const std::string& problem, const char* what);

struct place {
  int rank = 0, size = 0;
  explicit place(MPI_Comm comm);
  int next() const { return (rank + 1) % size; }
  int before() const { return (rank + size - 1) % size; }
};

/// Messages of every form, collectives and windows, in every kind of memory. Ranks without a device
/// take host memory where others take device memory.
void use(MPI_Comm comm, const char* what);

}  // namespace session_test
