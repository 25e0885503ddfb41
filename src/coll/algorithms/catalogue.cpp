// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms, and what their restrictions mean.
#include "coll/algorithms/catalogue.hpp"

#include <algorithm>

#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

// Several rows may share a function: it is declared once for each, which C++ allows.
#define TELPHER_ALGORITHM(what, name, function, restrictions) \
  schedule function(const problem& p, std::int32_t rank);
#include "coll/algorithms/catalogue.def"
#undef TELPHER_ALGORITHM

namespace {

constexpr algorithm rows[] = {
#define TELPHER_ALGORITHM(what, name, function, restrictions) \
  {#name, operation::what, restrictions, function},
#include "coll/algorithms/catalogue.def"
#undef TELPHER_ALGORITHM
};

std::int32_t nodes_of(const problem& p) {
  return p.node_of.empty() ? 1 : map_of(p).nodes();
}

/// Ranks of a node follow each other.
bool has_node_order(const problem& p) {
  const node_map& map = map_of(p);
  return std::is_sorted(map.node.begin(), map.node.end());
}

/// What forbids the problem; null if nothing does.
const char* objection(unsigned restrictions, const problem& p) {
  const auto has = [restrictions](restriction r) { return (restrictions & r) != 0; };
  const bool ordered = is_reduction(p.what) && !p.commutative;
  if (has(commutative_only) && ordered) return "the operation does not commute";
  if (has(node_order) && ordered && !has_node_order(p))
    return "the operation does not commute and nodes' ranks are interleaved";
  if (has(not_in_place) && p.in_place) return "in place";
  if (has(in_place_across) && p.in_place && nodes_of(p) == 1) return "in place in one node";
  if (has(no_gaps) && p.gaps) return "elements with gaps";
  if (has(one_node) && nodes_of(p) > 1) return "several nodes";
  if (has(nodes_power_of_two) && (nodes_of(p) & (nodes_of(p) - 1)) != 0)
    return "the number of nodes is no power of two";
  return nullptr;
}

}  // namespace

std::span<const algorithm> algorithms() noexcept {
  return rows;
}

const algorithm* find_algorithm(operation what, std::string_view name) noexcept {
  for (const algorithm& a : rows)
    if (a.what == what && name == a.name) return &a;
  return nullptr;
}

bool allows(const algorithm& a, const problem& p, const char** why) noexcept {
  const char* reason = a.what == p.what ? objection(a.restrictions, p) : "another operation";
  if (why != nullptr) *why = reason;
  return reason == nullptr;
}

}  // namespace telpher::coll
