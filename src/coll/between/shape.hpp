// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a communicator make up each node, as all of them know it.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::coll::between {

/// Nodes in the order of their first ranks, ranks ascending.
struct shape {
  std::vector<std::vector<int>> nodes;
  int ranks = 0;
  int node = 0;   // the own one
  int rails = 0;  // ranks of the smallest node: so many leaders a node

  const std::vector<int>& own_node() const noexcept {
    return nodes[static_cast<std::size_t>(node)];
  }
};

/// Collective. No nodes, at all ranks, where there is one only, where ranks do not see the same
/// ones, or where a node has more ranks than may exchange. An error, at all ranks: some rank has no
/// memory for it.
result<shape> shape_of(MPI_Comm comm) noexcept;

}  // namespace telpher::coll::between
