// SPDX-License-Identifier: BSD-3-Clause
// Two levels: the leaders of each lane pass blocks round the nodes, every block once over each link
// between nodes; as soon as a node's blocks are there, everyone in the node copies them. Serves
// allgatherv as well.
#include "coll/algorithms/catalogue.hpp"
#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

schedule allgather_two_level(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const std::uint64_t stride = aligned(p, largest_block(p));
  const std::uint64_t published = stride * static_cast<std::uint64_t>(p.ranks);
  builder b(p, rank, published + stride);
  const lane own = {map, map.local_of(rank), map.node_of(rank)};
  const auto& members = map.members_of(own.node);
  const bool leads = own.number < map.lanes;
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };
  const auto contribution = [&](std::int32_t r) {
    return b.contribution(r, b.input_block(r, r), {published, block_count(p, r, r)});
  };
  const auto carried = [&](std::int32_t r) { return map.local_of(r) % map.lanes == own.number; };

  if (members.size() > 1)
    b.publish(b.input_block(rank, rank), {published, block_count(p, rank, rank)});
  b.signal(members);
  b.wait(members);
  for (const std::int32_t r : members) {
    if (leads && carried(r) && map.nodes() > 1) b.copy(b.scratch(slot(r)), contribution(r));
    b.copy(b.output(b.output_block(rank, r)), contribution(r));
  }
  for (std::int32_t stage = 0; stage + 1 < map.nodes(); ++stage) {
    const auto node_at = [&](std::int32_t distance) {
      return (own.node - distance + map.nodes()) % map.nodes();
    };
    if (leads) {
      for (const std::int32_t r : map.members_of(node_at(stage)))
        if (carried(r)) b.send(own.after(1), b.scratch(slot(r)));
      for (const std::int32_t r : map.members_of(node_at(stage + 1)))
        if (carried(r)) b.receive(own.after(-1), b.scratch(slot(r)));
      b.signal(members);
    }
    for (std::int32_t j = 0; j < map.lanes; ++j) b.wait(map.leader(own.node, j));
    for (const std::int32_t r : map.members_of(node_at(stage + 1)))
      b.copy(b.output(b.output_block(rank, r)),
             b.scratch_of(map.leader(own.node, map.local_of(r) % map.lanes), slot(r)));
  }
  b.signal(members);
  b.wait(members);
  return b.take();
}

}  // namespace telpher::coll
