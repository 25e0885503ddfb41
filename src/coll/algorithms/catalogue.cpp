// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms, and what their restrictions mean.
#include "coll/algorithms/catalogue.hpp"

#include <algorithm>
#include <vector>

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

bool has_several_nodes(const problem& p) {
  return std::any_of(p.node_of.begin(), p.node_of.end(),
                     [&](std::int32_t node) { return node != p.node_of[0]; });
}

bool has_equal_nodes(const problem& p) {
  std::vector<std::int32_t> ranks_on;
  for (const std::int32_t node : p.node_of) {
    if (static_cast<std::size_t>(node) >= ranks_on.size())
      ranks_on.resize(static_cast<std::size_t>(node) + 1);
    ++ranks_on[static_cast<std::size_t>(node)];
  }
  return std::all_of(ranks_on.begin(), ranks_on.end(),
                     [&](std::int32_t n) { return n == ranks_on[0]; });
}

bool has_contiguous_nodes(const problem& p) {
  return std::is_sorted(p.node_of.begin(), p.node_of.end());
}

/// What forbids the problem; null if nothing does.
const char* objection(unsigned restrictions, const problem& p) {
  const auto has = [restrictions](restriction r) { return (restrictions & r) != 0; };
  if (has(power_of_two) && (p.ranks & (p.ranks - 1)) != 0) return "ranks are no power of two";
  if (has(commutative_only) && is_reduction(p.what) && !p.commutative)
    return "the operation does not commute";
  if (has(not_in_place) && p.in_place) return "in place";
  if (has(mapped_only) && !p.mapped) return "buffers are not mapped";
  if (has(one_node) && has_several_nodes(p)) return "several nodes";
  if (has(equal_nodes) && !has_equal_nodes(p)) return "nodes have different numbers of ranks";
  if (has(contiguous_nodes) && !has_contiguous_nodes(p)) return "nodes' ranks are interleaved";
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
