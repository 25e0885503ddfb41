// SPDX-License-Identifier: BSD-3-Clause
// The border between statuses and MPI's errors: a status becomes an error class, is logged with the
// call that met it, and goes through the communicator's error handler.
#pragma once

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// Calls the error handler of `comm` (of MPI_COMM_WORLD for the null communicator), or of a file,
/// with `code` and returns `code`, if the handler returns.
int raise(MPI_Comm comm, int code) noexcept;
int raise(MPI_File file, int code) noexcept;

/// The code of a call that should have made `request`. After an error handler of the program's
/// MPICH answers MPI_SUCCESS and makes none: nothing would ever complete.
inline int started(int code, MPI_Request request) noexcept {
  return code == MPI_SUCCESS && request == MPI_REQUEST_NULL ? MPI_ERR_OTHER : code;
}

/// Logs what `call` could not do and raises the error class of `s`. `detail` may be null.
int fail(MPI_Comm comm, const char* call, status s, const char* detail) noexcept;
int fail(MPI_File file, const char* call, status s, const char* detail) noexcept;

}  // namespace telpher::host_mpi
