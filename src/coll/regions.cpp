// SPDX-License-Identifier: BSD-3-Clause
// See regions.hpp.
#include "coll/regions.hpp"

namespace telpher::coll {

bool group::inter() const noexcept {
  int flag = 0;
  pmpi::Comm_test_inter(comm_, &flag);
  return flag != 0;
}

int group::rank() const noexcept {
  int rank = 0;
  pmpi::Comm_rank(comm_, &rank);
  return rank;
}

int group::local_size() const noexcept {
  int size = 0;
  pmpi::Comm_size(comm_, &size);
  return size;
}

int group::size() const noexcept {
  if (!inter()) return local_size();
  int size = 0;
  pmpi::Comm_remote_size(comm_, &size);
  return size;
}

bool group::is_cartesian() const noexcept {
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm_, &topology);
  return topology == MPI_CART;
}

group::degrees group::neighbours() const noexcept {
  int topology = MPI_UNDEFINED;
  pmpi::Topo_test(comm_, &topology);
  degrees d;
  int weighted = 0;
  if (topology == MPI_CART) {
    pmpi::Cartdim_get(comm_, &d.in);
    d.in *= 2;
    d.out = d.in;
  } else if (topology == MPI_GRAPH) {
    pmpi::Graph_neighbors_count(comm_, rank(), &d.in);
    d.out = d.in;
  } else if (topology == MPI_DIST_GRAPH) {
    pmpi::Dist_graph_neighbors_count(comm_, &d.in, &d.out, &weighted);
  }
  return d;
}

int group::in_degree() const noexcept { return neighbours().in; }
int group::out_degree() const noexcept { return neighbours().out; }

MPI_Count rank_count::of(const group& g) const noexcept {
  switch (question_) {
    case question::size: return g.size();
    case question::local_size: return g.local_size();
    case question::in_degree: return g.in_degree();
    case question::out_degree: return g.out_degree();
    case question::none: break;
  }
  return value_;
}

std::int64_t extent_of(MPI_Datatype type) noexcept {
  MPI_Count lower = 0, extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  return extent;
}

bool is_root(const group& g, int root) noexcept {
  if (g.inter()) return root == MPI_ROOT;
  return root == g.rank();
}

bool is_leaf(const group& g, int root) noexcept {
  return !g.inter() || (root != MPI_ROOT && root != MPI_PROC_NULL);
}

}  // namespace telpher::coll
