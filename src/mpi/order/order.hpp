// SPDX-License-Identifier: BSD-3-Clause
// The order of ranks in a topology: which rank takes the place of which vertex, so that neighbours
// are on one node. Functions of their arguments alone: ranks that pass the same get the same.
#pragma once

#include <cstdint>
#include <vector>

namespace telpher::mpi::order {

struct edge {
  int to;
  std::int64_t weight;
};
/// The edges that leave each vertex.
using graph = std::vector<std::vector<edge>>;

/// The number of the node of each rank or vertex, from 0 on.
using nodes = std::vector<int>;

/// The neighbours of MPI_Cart_create's grid, of which the last dimension runs fastest.
graph grid(const std::vector<int>& dims, const std::vector<int>& periods);

/// The weight of the edges between nodes.
std::int64_t cut(const graph& g, const nodes& of_vertex);

/// The node of each vertex of a grid that is cut into equal blocks, one for each node, with the
/// smallest surface. Empty where nodes have unequal numbers of ranks.
nodes blocks(const std::vector<int>& dims, const std::vector<int>& periods, const nodes& of_rank);

/// The node of each vertex of a graph: parts that grow along the heaviest edges, then exchanges of
/// two vertices as long as they lower the cut. Every node gets as many vertices as it has ranks.
nodes parts(const graph& g, const nodes& of_rank);

/// The vertex whose place each rank takes. A rank whose vertex stays on its node keeps it.
std::vector<int> places(const nodes& of_vertex, const nodes& of_rank);

}  // namespace telpher::mpi::order
