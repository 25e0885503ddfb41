// SPDX-License-Identifier: BSD-3-Clause
// What wrappers ask of the caller's own group: how long the vectors of MPI_Reduce_scatter and
// MPI_Reduce_scatter_block are, and whether this is MPI_Exscan's first rank. The vectors have a
// block for each rank of the own group, on an intercommunicator too, and MPI_Comm_size counts these
// ranks.
#pragma once

#include <numeric>

#include "host_mpi/host_mpi.hpp"

namespace telpher::local_group {

inline int size(MPI_Comm comm) noexcept {
  int ranks = 0;
  pmpi::Comm_size(comm, &ranks);
  return ranks;
}

inline int rank(MPI_Comm comm) noexcept {
  int own = 0;
  pmpi::Comm_rank(comm, &own);
  return own;
}

/// Elements in the blocks of all ranks.
template <class Count>
MPI_Count total(MPI_Comm comm, const Count counts[]) noexcept {
  return std::accumulate(counts, counts + size(comm), MPI_Count{0});
}

/// Elements in the block of the calling rank.
template <class Count>
MPI_Count own(MPI_Comm comm, const Count counts[]) noexcept {
  return counts[rank(comm)];
}

}  // namespace telpher::local_group
