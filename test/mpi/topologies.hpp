// SPDX-License-Identifier: BSD-3-Clause
// Communicators with a topology: grids, graphs, and everybody. The neighbours of each rank are
// functions of it, so that a rank knows what the others send.
#pragma once

#include <algorithm>
#include <functional>

#include "suite.hpp"

namespace mpi_test {

/// A topology of all ranks: its lists are a function of the rank, so that each rank knows what the
/// others send.
struct topology {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
  std::function<std::vector<int>(int)> from, to;
  /// The index of a message at its receiver is one that its sender knows: grids. Else the n-th of a
  /// rank is the n-th to this one.
  bool grid = false;

  /// Which of its blocks the rank `from(rank)[i]` sends there.
  std::size_t block_for(int rank, std::size_t i) const {
    if (grid) return i ^ 1;
    const std::vector<int> sources = from(rank), targets = to(sources[i]);
    const auto n = std::count(sources.begin(), sources.begin() + static_cast<long>(i), sources[i]);
    std::size_t at = 0;
    for (long seen = 0;; ++at)
      if (targets.at(at) == rank && seen++ == n) return at;
  }
};

/// The list of a rank in a grid, as the host MPI numbers it.
inline std::vector<int> grid_neighbours(MPI_Comm comm, int rank, const std::vector<int>& dims,
                                        bool periodic) {
  std::vector<int> list, here(dims.size());
  MPI_Cart_coords(comm, rank, as_int(dims.size()), here.data());
  for (std::size_t d = 0; d < dims.size(); ++d)
    for (const int step : {-1, 1}) {
      std::vector<int> there = here;
      there[d] += step;
      int neighbour = MPI_PROC_NULL;
      if (periodic || (there[d] >= 0 && there[d] < dims[d]))
        MPI_Cart_rank(comm, there.data(), &neighbour);
      list.push_back(neighbour);
    }
  return list;
}

inline topology make_grid(suite& w, std::vector<int> dims, bool periodic) {
  const std::vector<int> periods(dims.size(), periodic);
  topology t;
  const int n = as_int(dims.size());
  t.name = std::to_string(n) + (periodic ? "-d torus" : "-d grid");
  t.grid = true;
  MPI_Dims_create(w.ranks, n, dims.data());
  MPI_Cart_create(MPI_COMM_WORLD, n, dims.data(), periods.data(), 0, &t.comm);
  std::vector<std::vector<int>> lists;
  for (int r = 0; r < w.ranks; ++r) lists.push_back(grid_neighbours(t.comm, r, dims, periodic));
  t.from = t.to = [lists](int rank) { return lists.at(static_cast<std::size_t>(rank)); };
  return t;
}

/// Both sides of a ring, and twice the own rank: MPI_Graph_create.
inline topology make_graph(suite& w) {
  topology t;
  t.name = "graph";
  const int n = w.ranks;
  t.from = t.to = [n](int rank) {
    return std::vector<int>{(rank + n - 1) % n, (rank + 1) % n, rank, rank};
  };
  std::vector<int> index, edges;
  for (int r = 0; r < n; ++r) {
    for (const int e : t.to(r)) edges.push_back(e);
    index.push_back(as_int(edges.size()));
  }
  MPI_Graph_create(MPI_COMM_WORLD, n, index.data(), edges.data(), 0, &t.comm);
  return t;
}

/// Everyone sends to rank 0 and twice to the next rank, with weights.
inline topology make_distributed(suite& w, bool adjacent) {
  topology t;
  const int n = w.ranks;
  t.to = [n](int rank) { return std::vector<int>{0, (rank + 1) % n, (rank + 1) % n}; };
  t.from = [n](int rank) {
    std::vector<int> list(2, (rank + n - 1) % n);
    for (int i = 0; i < n && rank == 0; ++i) list.push_back(i);
    return list;
  };
  const std::vector<int> from = t.from(w.rank), to = t.to(w.rank);
  const std::vector<int> from_weights(from.size(), 3), to_weights(to.size(), 3);
  if (adjacent) {
    t.name = "adjacent graph";
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, as_int(from.size()), from.data(),
                                   from_weights.data(), as_int(to.size()), to.data(),
                                   to_weights.data(), MPI_INFO_NULL, 0, &t.comm);
    return t;
  }
  t.name = "distributed graph";
  const int degree = as_int(to.size());
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &w.rank, &degree, to.data(), to_weights.data(),
                        MPI_INFO_NULL, 0, &t.comm);
  // The order of the sources is the host MPI's.
  int in = 0, out = 0, weighted = 0;
  MPI_Dist_graph_neighbors_count(t.comm, &in, &out, &weighted);
  std::vector<int> sources(static_cast<std::size_t>(in)), source_weights(sources.size()),
      targets(static_cast<std::size_t>(out)), target_weights(targets.size());
  MPI_Dist_graph_neighbors(t.comm, in, sources.data(), source_weights.data(), out, targets.data(),
                           target_weights.data());
  t.from = [sources](int) { return sources; };
  return t;
}

/// MPI_Alltoallw: everybody, in the order of the ranks.
inline topology make_everybody(suite& w) {
  topology t;
  t.name = "everybody";
  MPI_Comm_dup(MPI_COMM_WORLD, &t.comm);
  t.from = t.to = [n = w.ranks](int) {
    std::vector<int> all;
    for (int i = 0; i < n; ++i) all.push_back(i);
    return all;
  };
  return t;
}

}  // namespace mpi_test
