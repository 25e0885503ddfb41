// SPDX-License-Identifier: BSD-3-Clause
// All algorithms: a row of catalogue.def for each of them and operation. A row's restrictions say
// which problems an algorithm may be given; whoever chooses asks `allows`.
#pragma once

#include <span>
#include <string_view>

#include "coll/schedule/problem.hpp"

namespace telpher::coll {

enum restriction : unsigned {
  commutative_only = 1u << 0,  // the reduction operation
  not_in_place = 1u << 1,
  one_node = 1u << 2,
  nodes_power_of_two = 1u << 3,
  node_order = 1u << 4,  // if the operation does not commute, ranks of a node follow each other
  no_gaps = 1u << 5,     // copies results to outputs as whole elements
  in_place_across = 1u << 8,  // not in place in one node, where steps are cut into slices
  // Not restrictions:
  packed = 1u << 6,         // the packed transport may run it, see below
  between_nodes = 1u << 7,  // has send and receive steps
};

/// `packed`: where peers' buffers are not mapped, a rank touches a peer only by copying its own
/// data to the peer's scratch. All else that it reads is its own. So data and flags can travel in
/// the same words, and the signal and wait steps are not needed.
struct algorithm {
  const char* name;  // one_shot
  operation what;
  unsigned restrictions;
  schedule (*make)(const problem& p, std::int32_t rank);
};

std::span<const algorithm> algorithms() noexcept;
/// Null if there is none of that name for the operation.
const algorithm* find_algorithm(operation what, std::string_view name) noexcept;
/// May the algorithm be given this problem? If not, `why` (if not null) says what forbids it.
bool allows(const algorithm& a, const problem& p, const char** why = nullptr) noexcept;

}  // namespace telpher::coll
