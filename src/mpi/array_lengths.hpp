// SPDX-License-Identifier: BSD-3-Clause
// How long the arrays of an enqueued collective's arguments are. 0 where there is no telling, and
// the call will fail.
#pragma once

#include "coll/regions.hpp"
#include "mpi/entry.hpp"

namespace telpher::mpi {

inline bool has_ranks(MPI_Comm comm) noexcept {
  return entry::active() && comm != MPI_COMM_NULL;
}

/// How many ranks a rank exchanges data with.
inline int peers_of(MPI_Comm comm) noexcept {
  return has_ranks(comm) ? coll::group(comm).size() : 0;
}

/// How many a rank of a topology receives from and sends to.
struct degrees {
  explicit degrees(MPI_Comm comm) noexcept {
    if (!has_ranks(comm)) return;
    const coll::group ranks(comm);
    in = ranks.in_degree();
    out = ranks.out_degree();
  }
  int in = 0, out = 0;
};

}  // namespace telpher::mpi
