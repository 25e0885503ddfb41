// SPDX-License-Identifier: BSD-3-Clause
// Two levels. In every node the leaders of each rail reduce the blocks that they carry over the
// node's ranks. They send each sum to the leader that carries the block in the node of the block's
// owner. That leader reduces the nodes' sums in node order. Serves both forms.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

namespace telpher::coll {
namespace {

schedule one_piece(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const rail own(map, rank);
  const auto& members = own.members();
  const bool leads = own.leads();
  const std::uint64_t stride = slot_stride(p);
  const auto ranks = static_cast<std::uint64_t>(p.ranks);
  // Scratch: sums of this node by block, published blocks, sums of other nodes for carried blocks.
  const std::uint64_t published = stride * ranks;
  const std::uint64_t landings = 2 * published;
  const auto row = static_cast<std::uint64_t>(map.nodes());
  builder b(p, rank, landings + stride * row * map.largest_node());
  const auto sum = [&](std::int32_t d) { return slot_at(d, stride, block_count(p, rank, d)); };
  const auto copy_of = [&](std::int32_t d) {
    return piece{published + sum(d).offset, sum(d).count};
  };
  const auto landing = [&](std::int32_t d, std::int32_t node) {
    const auto index = static_cast<std::uint64_t>(map.local_of(d)) * row;
    return piece{landings + (index + static_cast<std::uint64_t>(node)) * stride, sum(d).count};
  };

  for (std::int32_t d = 0; d < p.ranks; ++d)
    if (!own.carries(d)) b.publish(b.input_block(rank, d), copy_of(d));
  b.signal(members);
  b.wait(members);
  for (std::int32_t i = 1; leads && i <= map.nodes(); ++i) {  // this node's own blocks last
    const std::int32_t to = (own.node + i) % map.nodes();
    for (const std::int32_t d : map.members_of(to)) {
      if (!own.carries(d)) continue;
      b.reduce(b.scratch(sum(d)), b.contributions(members, b.input_block(rank, d), copy_of(d)));
      if (to != own.node) b.send(own.at(to), b.scratch(sum(d)));
    }
  }
  b.next_stage();
  for (std::int32_t i = 1; leads && i < map.nodes(); ++i) {
    const std::int32_t from = (own.node - i + map.nodes()) % map.nodes();
    for (const std::int32_t d : members)
      if (own.carries(d)) b.receive(own.at(from), b.scratch(landing(d, from)));
  }
  for (const std::int32_t d : members) {
    if (!leads || !own.carries(d)) continue;
    std::vector<span> sources;
    for (std::int32_t n = 0; n < map.nodes(); ++n)
      sources.push_back(b.scratch(n == own.node ? sum(d) : landing(d, n)));
    if (map.nodes() > 1) b.reduce(b.scratch(sum(d)), std::move(sources));
  }
  b.signal(members);
  b.wait(members);
  b.copy(b.output({0, sum(rank).count}), b.scratch_of(map.carrier(rank), sum(rank)));
  b.signal(members);
  b.wait(members);
  return b.take();
}

}  // namespace

schedule reduce_scatter_two_level(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, one_piece);
}

}  // namespace telpher::coll
