// SPDX-License-Identifier: BSD-3-Clause
// For unit tests in one process that need the host MPI and a device: MPI with one rank that returns
// errors, and the back end that the settings name.
#pragma once

#include <cstdlib>

#include "base/settings.hpp"
#include "device/registry.hpp"
#include "host_mpi/host_mpi.hpp"

namespace one_rank {

inline void start() {
  int started = 0;
  MPI_Initialized(&started);
  if (started) return;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  std::atexit([] { MPI_Finalize(); });
}

/// Null if no back end opens.
inline telpher::device::backend* device() {
  telpher::device::discover();
  const auto all = telpher::device::backends();
  return all.empty() ? nullptr : all.front();
}

}  // namespace one_rank
