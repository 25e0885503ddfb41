// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the catalogue, on every class of problem that it allows, for 1 to 17 ranks.
// Also checks its description.
#include "schedules/verify.hpp"

#include <cstdlib>

#include "check.hpp"
#include "schedules/flat_ring.hpp"
#include "schedules/samples.hpp"

using namespace telpher::coll;

namespace {

constexpr std::int32_t most_ranks = 17;
constexpr std::int32_t most_ranks_in_full = 8;

std::vector<schedule> make_all(const algorithm& a, const problem& p) {
  std::vector<schedule> all;
  for (std::int32_t r = 0; r < p.ranks; ++r) all.push_back(a.make(p, r));
  return all;
}

std::string name_of(const algorithm& a, const problem& p) {
  return std::string(to_string(a.what)) + " " + a.name + ", " + std::to_string(p.ranks) +
         " ranks, count " + std::to_string(p.count) + ", root " + std::to_string(p.root) +
         (p.in_place ? ", in place" : "") + (p.mapped ? "" : ", workspace") +
         (p.node_of.empty() ? "" : ", several nodes");
}

template <class Visit>
void for_each_problem(const algorithm& a, Visit visit) {
  for (std::int32_t ranks = 1; ranks <= most_ranks; ++ranks) {
    const auto depth = ranks <= most_ranks_in_full ? sample_depth::full : sample_depth::sparse;
    for (const auto& nodes : sample_nodes(ranks))
      for (problem& p : sample_problems(a.what, ranks, depth, nodes)) {
        p.commutative = (a.restrictions & commutative_only) != 0;
        if (allows(a, p)) visit(p);
      }
  }
}

/// Whether data moves between ranks only from own memory to a peer's scratch, where nobody reaches
/// buffers of peers.
bool is_packed(const problem& p, const schedule& s) {
  if (p.mapped) return true;
  for (const step& one : s.steps) {
    if (one.kind != step_kind::copy && one.kind != step_kind::reduce) continue;
    for (const span& from : one.sources)
      if (from.rank != s.rank) return false;
    const bool pushes = one.kind == step_kind::copy && one.to.where == space::scratch;
    if (one.to.rank != s.rank && !pushes) return false;
  }
  return p.ranks > 0;
}

}  // namespace

TEST_CASE(every_algorithm_is_right_for_1_to_17_ranks) {
  for (const algorithm& a : with_flat_ring()) {
    int tried = 0;
    for_each_problem(a, [&](const problem& p) {
      ++tried;
      const std::string error = verify(p, make_all(a, p));
      if (!error.empty()) check::fail(__FILE__, __LINE__, name_of(a, p) + ": " + error);
    });
    CHECK(tried >= 17);
  }
}

TEST_CASE(packed_algorithms_only_push) {
  for (const algorithm& a : algorithms()) {
    if ((a.restrictions & packed) == 0) continue;
    for_each_problem(a, [&](const problem& p) {
      for (const schedule& s : make_all(a, p)) CHECK(is_packed(p, s));
    });
  }
}

TEST_CASE(every_operation_has_an_algorithm_for_every_problem_in_a_node) {
#define TELPHER_OPERATION(name, ...)                                                        \
  for (const problem& p : sample_problems(operation::name, 5, sample_depth::full)) {        \
    bool found = false;                                                                     \
    for (const algorithm& a : algorithms()) found = found || allows(a, p);                  \
    /* Its blocks would be read and written in different slices; the staged path has it. */ \
    CHECK(found || (p.what == operation::reduce_scatter && p.in_place));                    \
  }
#include "coll/schedule/operations.def"
#undef TELPHER_OPERATION
}

TEST_CASE(names_lead_to_algorithms) {
  CHECK(find_algorithm(operation::allreduce, "two_shot") != nullptr);
  CHECK(find_algorithm(operation::gather, "two_shot") == nullptr);
  operation what = operation::allreduce;
  CHECK(from_string("exscan", what));
  CHECK(what == operation::exscan);
  CHECK(!from_string("nothing", what));
  for (const algorithm& a : algorithms()) CHECK(find_algorithm(a.what, a.name) == &a);
}
