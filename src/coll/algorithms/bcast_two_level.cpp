// SPDX-License-Identifier: BSD-3-Clause
// Two levels. In the root's node every rail's leader takes its share of a chunk. The leaders of a
// rail pass it along a binomial tree of nodes. Everyone in a node reads the shares from its
// leaders. One chunk follows the other, so that levels overlap.
#include <algorithm>

#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

schedule bcast_two_level(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const rail own(map, rank);
  const auto& members = own.members();
  const std::int32_t root_node = map.node_of(p.root);
  const std::int32_t place = (own.node - root_node + map.nodes()) % map.nodes();  // in the tree
  const bool leads = own.leads();
  const chunk_ring ring(p, chunks_under_way);
  builder b(p, rank, 2 * ring.room());
  std::int32_t top = 1;  // the distance to the parent; at the top of the tree, beyond all nodes
  while (top < map.nodes() && (place & top) == 0) top <<= 1;

  for (std::int32_t c = 0; c < ring.chunks; ++c) {
    const auto cut = [&](piece whole, std::int32_t j) {
      return share_of(whole, j, map.rails, p.granule);
    };
    const auto share = [&](std::int32_t j) { return cut(ring.in_vector(c), j); };
    const auto held = [&](std::int32_t j) { return cut(ring.in_place(0, c), j); };
    const auto published = [&](std::int32_t j) { return cut(ring.in_place(ring.room(), c), j); };
    const bool opens = !p.mapped || c == 0;
    const bool again = ring.again(c);
    // The chunk that was in this place before has been read: first the root's, then the leaders'.
    if (leads && place == 0 && !p.mapped && again) b.signal(p.root);
    if (!b.is_root() && again) b.signal(own.leaders());
    for (std::int32_t j = 0; b.is_root() && j < map.rails; ++j) {
      if (!p.mapped && again) b.wait(own.leader(j));
      if (j != own.number) b.publish(share(j), published(j));
      if (opens) b.signal(own.leader(j));
    }
    if (leads) {
      const span at = b.scratch(held(own.number));
      for (const std::int32_t r : members)
        if (r != p.root && again) b.wait(r);
      if (place == 0 && !b.is_root() && opens) b.wait(p.root);
      if (place == 0)
        b.copy(at, b.contribution(p.root, share(own.number), published(own.number)));
      else
        b.receive(own.after(-top), at);
      for (std::int32_t far = top >> 1; far > 0; far >>= 1)
        if (place + far < map.nodes()) b.send(own.after(far), at);
      for (const std::int32_t r : members)
        if (r != p.root) b.signal(r);
    }
    for (std::int32_t i = 0; !b.is_root() && i < map.rails; ++i) {
      const std::int32_t j = (own.number + i) % map.rails;
      b.wait(own.leader(j));
      b.copy(b.output(share(j)), b.scratch_of(own.leader(j), held(j)));
    }
  }
  if (p.count == 0) return b.take();
  if (!b.is_root()) b.signal(own.leaders());
  for (const std::int32_t r : members)
    if (leads && r != p.root) b.wait(r);
  if (leads && place == 0) b.signal(p.root);
  if (b.is_root()) b.wait(own.leaders());
  return b.take();
}

}  // namespace telpher::coll
