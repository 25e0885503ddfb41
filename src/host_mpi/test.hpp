// SPDX-License-Identifier: BSD-3-Clause
// Asks the host MPI after one request of ours: ok once, then the handle is null; would_block
// before.
#pragma once

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

inline status test(MPI_Request& request) noexcept {
  int flag = 0;
  if (pmpi::Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return status::host_mpi_error;
  return flag ? status::ok : status::would_block;
}

}  // namespace telpher::host_mpi
