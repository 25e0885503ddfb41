// SPDX-License-Identifier: BSD-3-Clause
// The node map of a problem.
#include "coll/algorithms/nodes.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace telpher::coll {

node_map::node_map(const problem& p) {
  std::unordered_map<std::int32_t, std::int32_t> number_of;  // label of a node -> its number
  for (std::int32_t r = 0; r < p.ranks; ++r) {
    const std::int32_t label = p.node_of.empty() ? 0 : p.node_of[static_cast<std::size_t>(r)];
    const auto [at, fresh] = number_of.try_emplace(label, nodes());
    if (fresh) members.emplace_back();
    auto& own = members[static_cast<std::size_t>(at->second)];
    node.push_back(at->second);
    local.push_back(static_cast<std::int32_t>(own.size()));
    own.push_back(r);
  }
  rails = p.ranks;
  for (const auto& own : members) rails = std::min(rails, static_cast<std::int32_t>(own.size()));
}

chunk_ring::chunk_ring(const problem& p, std::int32_t most_under_way)
    : count(p.count),
      length(aligned(p, p.chunk == 0 || p.chunk > p.count ? p.count : p.chunk)),
      chunks(length == 0 ? 0 : static_cast<std::int32_t>((p.count + length - 1) / length)),
      whole(length == 0 ? 0 : static_cast<std::int32_t>(p.count / length)),
      under_way(std::min(whole, most_under_way)) {}

const node_map& map_of(const problem& p) {
  struct cached {
    std::int32_t ranks;
    std::vector<std::int32_t> node_of;
    node_map map;
  };
  // A thread's objects end before the program's static ones, whose destructors may still use MPI:
  // this pointer is there even then.
  static constinit thread_local const cached* last = nullptr;
  struct end_of_thread {
    ~end_of_thread() { delete std::exchange(last, nullptr); }
  };
  thread_local const end_of_thread at_exit;
  static_cast<void>(at_exit);
  if (!last || last->ranks != p.ranks || last->node_of != p.node_of)
    delete std::exchange(last, new cached{p.ranks, p.node_of, node_map(p)});
  return last->map;
}

}  // namespace telpher::coll
