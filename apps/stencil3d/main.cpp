// SPDX-License-Identifier: BSD-3-Clause
// stencil3d: the communication of a 7-point stencil on device memory, alone (--mode messages) or as
// part of the heat equation (--mode heat). docs/use/applications.md describes both.
#include "stencil3d/stencil3d.hpp"

namespace {

constexpr const char usage[] =
    R"(stencil3d: ranks in a 3-D grid exchange with their neighbours on device memory

  --mode messages|heat   what to run (messages)
  --exchange WAY         telpher: device pointers to MPI; staged: copies through pinned memory by
                         hand; heat also: packed: faces packed into device buffers by a kernel
                         (telpher, where heat's faces are derived datatypes); neighbour: those
                         types in one MPI_Neighbor_alltoallw; matched: packed faces by
                         requests that are matched once, in the order of the device's queue
  --periodic             the rank grid closes on itself (messages: always)
  --json FILE            results, one row a size
  --no-check             do not compare with what must come out

messages:
  --sizes LIST           bytes a message: 8,4k or 1:1m for powers of two (1:1m)
  -k N                   messages a neighbour (4)
  --iterations N         timed iterations a size (100); --warm-up N before (10)
  --grid N               edge of the block that each iteration computes on (32; 0: none)

heat:
  --nx, --ny, --nz N     cells a rank (64)
  --steps N              steps (50)
)";

int body(apps::options& o) {
  const std::string mode = o.choice("--mode", {"messages", "heat"});
  return mode == "heat" ? apps::stencil3d::run_heat(o) : apps::stencil3d::run_messages(o);
}

}  // namespace

int main(int argc, char** argv) {
  return apps::run_program(argc, argv, usage, body);
}

namespace apps::stencil3d {

rank_grid::rank_grid(bool periodic) {
  const int wrap[3] = {periodic, periodic, periodic};
  int dims[3] = {0, 0, 0};  // MPI's last dimension runs fastest: z, y, x
  MPI_Dims_create(world_size(), 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, wrap, 1, &comm);
  MPI_Comm_rank(comm, &rank);
  int coordinates[3];
  MPI_Cart_coords(comm, rank, 3, coordinates);
  for (int d = 0; d < 3; ++d) {
    size[d] = dims[2 - d];
    place[d] = coordinates[2 - d];
    const auto at = static_cast<std::size_t>(2 * d);
    MPI_Cart_shift(comm, 2 - d, 1, &neighbour[at], &neighbour[at + 1]);
  }
}

rank_grid::~rank_grid() {
  MPI_Comm_free(&comm);
}

}  // namespace apps::stencil3d
