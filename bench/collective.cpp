// SPDX-License-Identifier: BSD-3-Clause
#include "collective.hpp"

#include <algorithm>
#include <cstdint>

#include "memory.hpp"

namespace telpher::bench {

namespace {

// Before MPI 4.0 these functions do not exist.
#if TELPHER_HAS_PERSISTENT_COLLECTIVES
#define TELPHER_PERSISTENT(call, ...) return MPI_##call##_init(__VA_ARGS__, MPI_INFO_NULL, r)
#else
#define TELPHER_PERSISTENT(call, ...) fail("this MPI has no MPI_" #call "_init")
#endif
#define TELPHER_FORMS(call, icall, ...)                             \
  [](const arguments& a, form f, MPI_Request* r) -> int {           \
    if (f == form::blocking) return MPI_##call(__VA_ARGS__);        \
    if (f == form::nonblocking) return MPI_##icall(__VA_ARGS__, r); \
    TELPHER_PERSISTENT(call, __VA_ARGS__);                          \
  }

const int* data(const std::vector<int>& v) {
  return v.data();
}

using blocks = collective::blocks;
using traffic = collective::traffic;
using origin = collective::origin;
constexpr auto everywhere = collective::significant::everywhere;
constexpr auto at_root = collective::significant::at_root;

const std::vector<collective> all = {
    {"barrier", blocks::none, blocks::none, everywhere, everywhere, false, traffic::none,
     origin::nothing, TELPHER_FORMS(Barrier, Ibarrier, a.comm)},
    {"bcast", blocks::none, blocks::one, everywhere, everywhere, true, traffic::block, origin::root,
     TELPHER_FORMS(Bcast, Ibcast, a.receive, a.count, a.type, a.root, a.comm)},
    {"gather", blocks::one, blocks::each_rank, everywhere, at_root, false, traffic::all_blocks,
     origin::each_rank,
     TELPHER_FORMS(Gather, Igather, a.send, a.count, a.type, a.receive, a.count, a.type, a.root,
                   a.comm)},
    {"gatherv", blocks::one, blocks::each_rank, everywhere, at_root, false, traffic::all_blocks,
     origin::each_rank,
     TELPHER_FORMS(Gatherv, Igatherv, a.send, a.count, a.type, a.receive, data(a.counts),
                   data(a.places), a.type, a.root, a.comm)},
    {"scatter", blocks::each_rank, blocks::one, at_root, everywhere, false, traffic::all_blocks,
     origin::root,
     TELPHER_FORMS(Scatter, Iscatter, a.send, a.count, a.type, a.receive, a.count, a.type, a.root,
                   a.comm)},
    {"scatterv", blocks::each_rank, blocks::one, at_root, everywhere, false, traffic::all_blocks,
     origin::root,
     TELPHER_FORMS(Scatterv, Iscatterv, a.send, data(a.counts), data(a.places), a.type, a.receive,
                   a.count, a.type, a.root, a.comm)},
    {"allgather", blocks::one, blocks::each_rank, everywhere, everywhere, false,
     traffic::all_blocks, origin::each_rank,
     TELPHER_FORMS(Allgather, Iallgather, a.send, a.count, a.type, a.receive, a.count, a.type,
                   a.comm)},
    {"allgatherv", blocks::one, blocks::each_rank, everywhere, everywhere, false,
     traffic::all_blocks, origin::each_rank,
     TELPHER_FORMS(Allgatherv, Iallgatherv, a.send, a.count, a.type, a.receive, data(a.counts),
                   data(a.places), a.type, a.comm)},
    {"alltoall", blocks::each_rank, blocks::each_rank, everywhere, everywhere, false,
     traffic::all_blocks, origin::each_ranks_for_me,
     TELPHER_FORMS(Alltoall, Ialltoall, a.send, a.count, a.type, a.receive, a.count, a.type,
                   a.comm)},
    {"alltoallv", blocks::each_rank, blocks::each_rank, everywhere, everywhere, false,
     traffic::all_blocks, origin::each_ranks_for_me,
     TELPHER_FORMS(Alltoallv, Ialltoallv, a.send, data(a.counts), data(a.places), a.type, a.receive,
                   data(a.counts), data(a.places), a.type, a.comm)},
    {"alltoallw", blocks::each_rank, blocks::each_rank, everywhere, everywhere, false,
     traffic::all_blocks, origin::each_ranks_for_me,
     TELPHER_FORMS(Alltoallw, Ialltoallw, a.send, data(a.counts), data(a.byte_places),
                   a.types.data(), a.receive, data(a.counts), data(a.byte_places), a.types.data(),
                   a.comm)},
    {"reduce", blocks::one, blocks::one, everywhere, at_root, false, traffic::block,
     origin::reduced,
     TELPHER_FORMS(Reduce, Ireduce, a.send, a.receive, a.count, a.type, a.op, a.root, a.comm)},
    {"allreduce", blocks::one, blocks::one, everywhere, everywhere, false, traffic::allreduce,
     origin::reduced,
     TELPHER_FORMS(Allreduce, Iallreduce, a.send, a.receive, a.count, a.type, a.op, a.comm)},
    {"reduce_scatter", blocks::each_rank, blocks::one, everywhere, everywhere, false,
     traffic::all_blocks, origin::reduced_for_me,
     TELPHER_FORMS(Reduce_scatter, Ireduce_scatter, a.send, a.receive, data(a.counts), a.type, a.op,
                   a.comm)},
    {"reduce_scatter_block", blocks::each_rank, blocks::one, everywhere, everywhere, false,
     traffic::all_blocks, origin::reduced_for_me,
     TELPHER_FORMS(Reduce_scatter_block, Ireduce_scatter_block, a.send, a.receive, a.count, a.type,
                   a.op, a.comm)},
    {"scan", blocks::one, blocks::one, everywhere, everywhere, false, traffic::block,
     origin::reduced_up_to_me,
     TELPHER_FORMS(Scan, Iscan, a.send, a.receive, a.count, a.type, a.op, a.comm)},
    {"exscan", blocks::one, blocks::one, everywhere, everywhere, false, traffic::block,
     origin::reduced_before_me,
     TELPHER_FORMS(Exscan, Iexscan, a.send, a.receive, a.count, a.type, a.op, a.comm)},
    {"neighbor_allgather", blocks::one, blocks::each_neighbour, everywhere, everywhere, false,
     traffic::all_blocks, origin::neighbours,
     TELPHER_FORMS(Neighbor_allgather, Ineighbor_allgather, a.send, a.count, a.type, a.receive,
                   a.count, a.type, a.comm)},
    {"neighbor_allgatherv", blocks::one, blocks::each_neighbour, everywhere, everywhere, false,
     traffic::all_blocks, origin::neighbours,
     TELPHER_FORMS(Neighbor_allgatherv, Ineighbor_allgatherv, a.send, a.count, a.type, a.receive,
                   data(a.counts), data(a.places), a.type, a.comm)},
    {"neighbor_alltoall", blocks::each_neighbour, blocks::each_neighbour, everywhere, everywhere,
     false, traffic::all_blocks, origin::neighbours_for_me,
     TELPHER_FORMS(Neighbor_alltoall, Ineighbor_alltoall, a.send, a.count, a.type, a.receive,
                   a.count, a.type, a.comm)},
    {"neighbor_alltoallv", blocks::each_neighbour, blocks::each_neighbour, everywhere, everywhere,
     false, traffic::all_blocks, origin::neighbours_for_me,
     TELPHER_FORMS(Neighbor_alltoallv, Ineighbor_alltoallv, a.send, data(a.counts), data(a.places),
                   a.type, a.receive, data(a.counts), data(a.places), a.type, a.comm)},
    {"neighbor_alltoallw", blocks::each_neighbour, blocks::each_neighbour, everywhere, everywhere,
     false, traffic::all_blocks, origin::neighbours_for_me,
     TELPHER_FORMS(Neighbor_alltoallw, Ineighbor_alltoallw, a.send, data(a.counts),
                   a.neighbour_places.data(), a.types.data(), a.receive, data(a.counts),
                   a.neighbour_places.data(), a.types.data(), a.comm)},
};

#undef TELPHER_FORMS
#undef TELPHER_PERSISTENT

constexpr const char* persistent_ending = "_persistent";

}  // namespace

void arguments::set_blocks(int blocks) {
  int element = 0;
  MPI_Type_size(type, &element);
  for (int b = 0; b < blocks; ++b) {
    counts.push_back(count);
    places.push_back(b * count);
    byte_places.push_back(b * count * element);
    neighbour_places.push_back(static_cast<MPI_Aint>(b) * count * element);
    types.push_back(type);
  }
}

const std::vector<collective>& collectives() {
  return all;
}

std::string test_name(const collective& which, form how) {
  const std::string base = which.name;
  return how == form::blocking      ? base
         : how == form::nonblocking ? 'i' + base
                                    : base + persistent_ending;
}

bool find_collective(const std::string& test, const collective*& which, form& how) {
  for (const collective& one : collectives())
    for (const form f : {form::blocking, form::nonblocking, form::persistent})
      if (test == test_name(one, f)) {
        which = &one;
        how = f;
        return true;
      }
  return false;
}

grid::grid(int ranks, int dimensions, int radius)
    : extents_(static_cast<std::size_t>(dimensions), 0), radius_(radius) {
  MPI_Dims_create(ranks, dimensions, extents_.data());
}

std::vector<int> grid::neighbours(int rank) const {
  std::vector<int> found;
  int stride = 1;
  for (const int extent : extents_) {
    const int place = rank / stride % extent;
    for (int step = -radius_; step <= radius_; ++step) {
      const int other = ((place + step) % extent + extent) % extent;
      const int peer = rank + (other - place) * stride;
      if (peer != rank && std::find(found.begin(), found.end(), peer) == found.end())
        found.push_back(peer);
    }
    stride *= extent;
  }
  return found;
}

MPI_Comm grid::communicator(MPI_Comm comm) const {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  const auto ranks = neighbours(rank);
  const int degree = static_cast<int>(ranks.size());
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(comm, degree, ranks.data(), MPI_UNWEIGHTED, degree, ranks.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
  return made;
}

}  // namespace telpher::bench
