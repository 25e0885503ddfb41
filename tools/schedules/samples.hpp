// SPDX-License-Identifier: BSD-3-Clause
// Problems to try an algorithm on: every class of counts, roots, in place or not, mapped or not,
// and, for algorithms between nodes, shapes of nodes. Deterministic: the same list every time.
#pragma once

#include <cstdint>
#include <vector>

#include "coll/schedule/problem.hpp"

namespace telpher::coll {

enum class sample_depth : std::uint8_t {
  full,    // every class
  sparse,  // a few classes, for large rank counts
};

/// Node shapes for so many ranks: one node, equal nodes, a node with one rank, uneven nodes, ranks
/// dealt round robin.
std::vector<std::vector<std::int32_t>> sample_nodes(std::int32_t ranks);

/// Problems on the given nodes (empty: one node).
std::vector<problem> sample_problems(operation what, std::int32_t ranks, sample_depth depth,
                                     const std::vector<std::int32_t>& node_of = {});

}  // namespace telpher::coll
