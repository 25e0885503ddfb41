// SPDX-License-Identifier: BSD-3-Clause
// Tests one of our own requests. Returns ok when it completes (the handle is null afterwards) and
// would_block before.
#pragma once

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"
#include "host_mpi/received.hpp"

namespace telpher::host_mpi {

inline status test(MPI_Request& request) noexcept {
  int flag = 0;
  if (pmpi::Test(&request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS) return status::host_mpi_error;
  return flag ? status::ok : status::would_block;
}

/// The same for a receive; `bytes` is the number of bytes received.
inline status test(MPI_Request& request, std::size_t& bytes) noexcept {
  int flag = 0;
  MPI_Status envelope;
  if (pmpi::Test(&request, &flag, &envelope) != MPI_SUCCESS) return status::host_mpi_error;
  if (!flag) return status::would_block;
  bytes = bytes_of(envelope);
  return status::ok;
}

}  // namespace telpher::host_mpi
