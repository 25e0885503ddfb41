// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host_mpi/job.hpp"

namespace telpher::host_mpi {

/// Whether it is an intracommunicator of ranks of the job.
inline bool is_our_intracomm(const job& j, MPI_Comm comm) noexcept {
  int inter = 0;
  return comm != MPI_COMM_NULL && pmpi::Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
         is_ours(j, comm);
}

/// How many ranks a communicator has, and which of them this process is.
struct place_in {
  explicit place_in(MPI_Comm comm) noexcept {
    pmpi::Comm_size(comm, &ranks);
    pmpi::Comm_rank(comm, &rank);
  }
  int ranks = 0;
  int rank = 0;
};

}  // namespace telpher::host_mpi
