// SPDX-License-Identifier: BSD-3-Clause
#include "coll/regions.hpp"

namespace telpher::coll {

namespace {

bool is_inter(MPI_Comm comm) noexcept {
  int flag = 0;
  pmpi::Comm_test_inter(comm, &flag);
  return flag != 0;
}

int rank_in(MPI_Comm comm) noexcept {
  int rank = 0;
  pmpi::Comm_rank(comm, &rank);
  return rank;
}

}  // namespace

bool group::is_root(int root) const noexcept {
  if (root < 0) return root == MPI_ROOT;
  return root == rank_in(comm_) && !is_inter(comm_);
}

int group::size() const noexcept {
  int size = 0;
  if (is_inter(comm_))
    pmpi::Comm_remote_size(comm_, &size);
  else
    pmpi::Comm_size(comm_, &size);
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
    pmpi::Graph_neighbors_count(comm_, rank_in(comm_), &d.in);
    d.out = d.in;
  } else if (topology == MPI_DIST_GRAPH) {
    pmpi::Dist_graph_neighbors_count(comm_, &d.in, &d.out, &weighted);
  }
  return d;
}

int group::in_degree() const noexcept {
  return neighbours().in;
}
int group::out_degree() const noexcept {
  return neighbours().out;
}

MPI_Count rank_count::in(const group& g) const noexcept {
  switch (question_) {
    case question::size:
      return g.size();
    case question::in_degree:
      return g.in_degree();
    case question::out_degree:
      return g.out_degree();
    case question::none:
      break;
  }
  return value_;
}

std::int64_t extent_of(MPI_Datatype type) noexcept {
  MPI_Count lower = 0, extent = 0;
  pmpi::Type_get_extent_x(type, &lower, &extent);
  return extent;
}

}  // namespace telpher::coll
