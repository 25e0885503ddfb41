// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/shape.hpp"

#include <algorithm>
#include <map>

#include "base/word_hash.hpp"
#include "coll/between/votes.hpp"
#include "coll/exchange/agreement.hpp"
#include "host_mpi/intracomm.hpp"
#include "ticket/blocking_call.hpp"
#include "ticket/peers.hpp"

namespace telpher::coll::between {
namespace {

/// What a rank sees of its node: the first rank, how many, and a hash of all.
struct card {
  int first;
  int ranks;
  std::uint64_t mark;

  friend bool operator==(const card&, const card&) = default;
};

card card_of(const std::vector<int>& node) {
  return {node.front(), static_cast<int>(node.size()), word_hash().add_all(node).value()};
}

std::vector<int> ranks_here(MPI_Comm comm, int ranks) {
  ticket::peer_table& peers = ticket::peers();
  std::vector<int> here;
  for (int r = 0; r < ranks; ++r) {
    const int world = host_mpi::world_rank(peers.job(), comm, r);
    if (world >= 0 && peers.shares_node(world)) here.push_back(r);
  }
  return here;
}

/// May throw std::bad_alloc.
shape shape_from(const std::vector<card>& cards, int own_rank) {
  std::map<int, std::vector<int>> found;
  for (std::size_t r = 0; r < cards.size(); ++r)
    found[cards[r].first].push_back(static_cast<int>(r));
  shape s;
  s.ranks = s.rails = static_cast<int>(cards.size());
  for (auto& [first, node] : found) {
    for (const int r : node) {
      if (!(cards[static_cast<std::size_t>(r)] == card_of(node))) return {};
      if (r == own_rank) s.node = static_cast<int>(s.nodes.size());
    }
    if (node.size() > static_cast<std::size_t>(exchange::most_ranks)) return {};
    s.rails = std::min(s.rails, static_cast<int>(node.size()));
    s.nodes.push_back(std::move(node));
  }
  return s.nodes.size() > 1 ? s : shape{};
}

}  // namespace

result<shape> shape_of(MPI_Comm comm) noexcept {
  const auto [ranks, own_rank] = host_mpi::place_in(comm);
  card own{};
  std::vector<card> cards;
  const bool can_begin = has_memory_for([&] {
    own = card_of(ranks_here(comm, ranks));
    cards.resize(static_cast<std::size_t>(ranks));
  });
  if (!all_say(comm, can_begin)) return status::out_of_memory;
  {
    ticket::blocking_call blocked;
    if (pmpi::Allgather(&own, sizeof own, MPI_BYTE, cards.data(), sizeof own, MPI_BYTE, comm) !=
        MPI_SUCCESS)
      return shape{};
  }
  shape made;
  const bool is_made = has_memory_for([&] { made = shape_from(cards, own_rank); });
  if (!all_say(comm, is_made)) return status::out_of_memory;
  return made;
}

}  // namespace telpher::coll::between
