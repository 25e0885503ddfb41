// SPDX-License-Identifier: BSD-3-Clause
// Which rank is where, for algorithms that know of nodes. There are as many rails as the smallest
// node has ranks. In each node the j-th rank is the leader of rail j. The leaders of one rail, one
// in each node, exchange messages. A larger node also has ranks that lead no rail: rail
// `local % rails` carries their blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "coll/schedule/builder.hpp"

namespace telpher::coll {

struct node_map {
  explicit node_map(const problem& p);

  std::vector<std::vector<std::int32_t>> members;  // of each node, in rank order
  std::vector<std::int32_t> node;                  // of each rank, in order of first appearance
  std::vector<std::int32_t> local;                 // of each rank: its index in its node
  std::int32_t rails = 0;

  std::int32_t nodes() const noexcept { return static_cast<std::int32_t>(members.size()); }
  const std::vector<std::int32_t>& members_of(std::int32_t n) const {
    return members[static_cast<std::size_t>(n)];
  }
  std::uint64_t largest_node() const {
    return std::ranges::max(members, {}, &std::vector<std::int32_t>::size).size();
  }
  std::int32_t node_of(std::int32_t rank) const { return node[static_cast<std::size_t>(rank)]; }
  std::int32_t local_of(std::int32_t rank) const { return local[static_cast<std::size_t>(rank)]; }
  std::int32_t leader(std::int32_t n, std::int32_t rail) const {
    return members_of(n)[static_cast<std::size_t>(rail)];
  }
  /// The rank that carries this rank's blocks to other nodes.
  std::int32_t carrier(std::int32_t rank) const {
    return leader(node_of(rank), local_of(rank) % rails);
  }
  bool same_node(std::int32_t a, std::int32_t b) const { return node_of(a) == node_of(b); }
};

/// The problem's node map; the same object for problems with the same nodes asked one after the
/// other, good until this thread asks for other nodes.
const node_map& map_of(const problem& p);

/// A rank's place in its node, and the leaders of the rail of that number, if there is one.
struct rail {
  rail(const node_map& m, std::int32_t rank)
      : map(m), number(m.local_of(rank)), node(m.node_of(rank)) {}

  const node_map& map;
  std::int32_t number;
  std::int32_t node;  // this rank's

  bool leads() const { return number < map.rails; }
  /// Whether this rank, a leader, carries the blocks of a rank.
  bool carries(std::int32_t rank) const { return map.local_of(rank) % map.rails == number; }
  const std::vector<std::int32_t>& members() const { return map.members_of(node); }
  /// The leaders of this node: its first ranks.
  std::int32_t leader(std::int32_t j) const { return map.leader(node, j); }
  std::span<const std::int32_t> leaders() const {
    return {members().data(), static_cast<std::size_t>(map.rails)};
  }
  std::int32_t nodes() const noexcept { return map.nodes(); }
  /// The leader `distance` nodes on, round the ring.
  std::int32_t after(std::int32_t distance) const {
    return map.leader((node + distance + nodes()) % nodes(), number);
  }
  std::int32_t at(std::int32_t other) const { return map.leader(other, number); }
};

/// Enough that a node works on one chunk while the next ones travel.
constexpr std::int32_t chunks_under_way = 3;

/// A vector in chunks, of which at most `under_way` are in work at a time. Scratch holds a ring of
/// places for them. A shorter last chunk has a place of its own, so that the pieces into which a
/// place is cut are always the same.
struct chunk_ring {
  chunk_ring(const problem& p, std::int32_t most_under_way);

  std::uint64_t count;
  std::uint64_t length;  // of a chunk
  std::int32_t chunks;
  std::int32_t whole;  // of full length
  std::int32_t under_way;

  std::int32_t places() const { return under_way + (chunks - whole); }
  std::uint64_t room() const { return static_cast<std::uint64_t>(places()) * length; }
  std::uint64_t place(std::int32_t c) const {
    return static_cast<std::uint64_t>(c < whole ? c % under_way : under_way);
  }
  /// Whether an earlier chunk was in the same place.
  bool again(std::int32_t c) const { return c >= under_way && c < whole; }

  piece in_vector(std::int32_t c) const {
    const std::uint64_t begin = static_cast<std::uint64_t>(c) * length;
    return {begin, count - begin < length ? count - begin : length};
  }
  /// Where places begin at `base`.
  piece in_place(std::uint64_t base, std::int32_t c) const {
    return {base + place(c) * length, in_vector(c).count};
  }
};

}  // namespace telpher::coll
