// SPDX-License-Identifier: BSD-3-Clause
// Two levels: the leaders of each rail pass blocks round the nodes. Every block goes once over each
// link between nodes. As soon as a node's blocks are there, everyone in the node copies them.
// Serves allgatherv as well.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

namespace telpher::coll {
namespace {

schedule one_piece(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const std::uint64_t stride = slot_stride(p);
  const std::uint64_t published = stride * static_cast<std::uint64_t>(p.ranks);
  builder b(p, rank, published + stride);
  const rail own(map, rank);
  const auto& members = own.members();
  const bool leads = own.leads();
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };
  const auto contribution = [&](std::int32_t r) {
    return b.contribution(r, b.input_block(r, r), {published, block_count(p, r, r)});
  };

  if (members.size() > 1 && (map.nodes() == 1 || map.carrier(rank) != rank))
    b.publish(b.input_block(rank, rank), {published, block_count(p, rank, rank)});
  b.signal(members);
  b.wait(members);
  for (const std::int32_t r : members) {
    if (map.nodes() == 1) b.copy(b.output(b.output_block(rank, r)), contribution(r));
    if (leads && own.carries(r) && map.nodes() > 1) b.copy(b.scratch(slot(r)), contribution(r));
  }
  // Blocks of the own node too come from the leaders: if messages round values, all ranks have what
  // was sent.
  for (std::int32_t stage = 0; map.nodes() > 1 && stage < map.nodes(); ++stage) {
    if (stage > 0) b.next_stage();
    const auto& from = map.members_of((own.node - stage + map.nodes()) % map.nodes());
    for (const std::int32_t r : from) {
      if (!leads || !own.carries(r)) continue;
      if (stage > 0) b.receive(own.after(-1), b.scratch(slot(r)));
      if (stage + 1 < map.nodes()) b.send(own.after(1), b.scratch(slot(r)));
    }
    if (leads) b.signal(members);
    b.wait(own.leaders());
    for (const std::int32_t r : from)
      b.copy(b.output(b.output_block(rank, r)),
             b.scratch_of(own.leader(map.local_of(r) % map.rails), slot(r)));
  }
  b.signal(members);
  b.wait(members);
  return b.take();
}

}  // namespace

schedule allgather_two_level(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, one_piece);
}

}  // namespace telpher::coll
