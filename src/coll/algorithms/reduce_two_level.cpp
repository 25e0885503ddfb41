// SPDX-License-Identifier: BSD-3-Clause
// Two levels: in every node the leaders of each lane reduce their shares of a chunk over the node's
// ranks, the leaders of a lane reduce along a binomial tree of nodes, the root collects the shares
// in its node. A tree that keeps node order has its top in the first node, which then passes the
// result on to the root's.
#include <algorithm>

#include "coll/algorithms/catalogue.hpp"
#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

schedule reduce_two_level(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const lane own = {map, map.local_of(rank), map.node_of(rank)};
  const auto& members = map.members_of(own.node);
  const std::int32_t root_node = map.node_of(p.root);
  const std::int32_t top = p.commutative ? root_node : 0;
  const std::int32_t place = (own.node - top + map.nodes()) % map.nodes();
  const bool leads = own.number < map.lanes;
  const std::uint64_t chunk = aligned(p, p.chunk == 0 ? p.count : p.chunk);
  const std::uint64_t landings = aligned(p, p.count);
  builder b(p, rank, 3 * landings);
  const auto published = [&](piece at) { return piece{2 * landings + at.offset, at.count}; };

  for (std::uint64_t begin = 0; begin < p.count; begin += chunk) {
    const piece whole = {begin, std::min(chunk, p.count - begin)};
    const auto share = [&](std::int32_t j) { return share_of(whole, j, map.lanes, p.granule); };
    const bool opens = !p.mapped || begin == 0;
    for (std::int32_t j = 0; j < map.lanes; ++j) {
      if (j != own.number) b.publish(share(j), published(share(j)));
      if (opens) b.signal(map.leader(own.node, j));
    }
    if (leads) {
      const piece at = share(own.number);
      const span sum = b.scratch(at);
      const span landing = b.scratch({landings + at.offset, at.count});
      if (opens) b.wait(members);
      b.reduce(sum, b.contributions(members, at, published(at)));
      for (std::int32_t far = 1; far < map.nodes(); far <<= 1) {
        if ((place & far) != 0) {
          b.send(own.after(-far), sum);
          break;
        }
        if (place + far >= map.nodes()) continue;
        b.receive(own.after(far), landing);
        b.reduce(sum, {sum, landing});
      }
      if (top != root_node && own.node == top) b.send(own.at(root_node), sum);
      if (top != root_node && own.node == root_node) b.receive(own.at(top), sum);
      if (own.node == root_node) b.signal(p.root);
    }
    for (std::int32_t j = 0; b.is_root() && j < map.lanes; ++j) {
      b.wait(map.leader(own.node, j));
      b.copy(b.output(share(j)), b.scratch_of(map.leader(own.node, j), share(j)));
    }
  }
  if (p.count == 0) return b.take();
  // Leaders, then the root, tell that they read no more.
  if (leads && own.node != root_node) b.signal(members);
  if (leads && own.node == root_node)
    for (const std::int32_t r : members)
      if (r != p.root) b.signal(r);
  for (std::int32_t j = 0; (!b.is_root()) && j < map.lanes; ++j) b.wait(map.leader(own.node, j));
  for (std::int32_t j = 0; b.is_root() && j < map.lanes; ++j) b.signal(map.leader(own.node, j));
  if (leads && own.node == root_node) b.wait(p.root);
  return b.take();
}

}  // namespace telpher::coll
