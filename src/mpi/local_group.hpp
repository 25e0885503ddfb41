// SPDX-License-Identifier: BSD-3-Clause
// How long the vectors of MPI_Reduce_scatter and MPI_Reduce_scatter_block are. On an
// intercommunicator too they have a block for each rank of the caller's own group, which is what
// MPI_Comm_size counts.
#pragma once

#include <numeric>

#include "host_mpi/host_mpi.hpp"

namespace telpher::local_group {

inline int size(MPI_Comm comm) noexcept {
  int ranks = 0;
  pmpi::Comm_size(comm, &ranks);
  return ranks;
}

/// Elements in the blocks of all ranks.
template <class Count>
MPI_Count total(MPI_Comm comm, const Count counts[]) noexcept {
  return std::accumulate(counts, counts + size(comm), MPI_Count{0});
}

/// Elements in the block of the calling rank.
template <class Count>
MPI_Count own(MPI_Comm comm, const Count counts[]) noexcept {
  int rank = 0;
  pmpi::Comm_rank(comm, &rank);
  return counts[rank];
}

}  // namespace telpher::local_group
