// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace mpi_test {

/// Errors are returned while the object lives, also those of calls without a communicator, which go
/// to the handler of MPI_COMM_WORLD or MPI_COMM_SELF.
class returned_errors {
 public:
  returned_errors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    set(MPI_ERRORS_RETURN);
  }
  returned_errors(const returned_errors&) = delete;
  returned_errors& operator=(const returned_errors&) = delete;
  ~returned_errors() {
    set(before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  static void set(MPI_Errhandler handler) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  }
  MPI_Errhandler before_;
};

}  // namespace mpi_test
