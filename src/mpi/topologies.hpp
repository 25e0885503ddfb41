// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks in a topology. The host MPI makes it in any case. If the program allows
// another order (reorder = true), Telpher looks for one that lowers the weight of the edges between
// nodes. If there is one, the topology is made once more over a communicator in that order, and
// takes the place of the first. So the host MPI's own functions answer for it, and the order is
// never worse than the host MPI's.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi::topologies {

// Each is called after the host MPI's call has succeeded, on all its ranks, with its arguments, and
// may put another communicator in the place of `made`. Null does nothing.

void order_cart(int ndims, const int dims[], const int periods[], int reorder,
                MPI_Comm* made) noexcept;
void order_graph(int nnodes, const int index[], const int edges[], int reorder,
                 MPI_Comm* made) noexcept;
void order_dist_graph(MPI_Info info, int reorder, MPI_Comm* made) noexcept;
/// Of MPI_Dist_graph_create_adjacent; does nothing unless TELPHER_REORDER=on. Its callers know
/// their neighbours. Some (PETSc 3.18) let MPI reorder and then go on with the neighbours that they
/// had.
void order_adjacent_graph(MPI_Info info, int reorder, MPI_Comm* made) noexcept;

}  // namespace telpher::mpi::topologies
