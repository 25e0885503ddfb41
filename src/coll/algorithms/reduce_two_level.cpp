// SPDX-License-Identifier: BSD-3-Clause
// Two levels. In every node the leaders of each rail reduce their shares of a chunk over the node's
// ranks. Then the leaders of a rail reduce along a binomial tree of nodes. The root collects the
// shares in its node. A tree that keeps node order has its top in the first node, which then passes
// the result on to the root's.
#include <algorithm>

#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {
namespace {

// Leaders, then the root, tell that they read no more.
void end(builder& b, const rail& own, std::int32_t root) {
  const bool leads = own.leads(), in_root_node = own.node == own.map.node_of(root);
  if (leads && !in_root_node) b.signal(own.members());
  if (leads && in_root_node)
    for (const std::int32_t r : own.members())
      if (r != root) b.signal(r);
  if (b.is_root())
    b.signal(own.leaders());
  else
    b.wait(own.leaders());
  if (leads && in_root_node) b.wait(root);
}

}  // namespace

schedule reduce_two_level(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const rail own(map, rank);
  const auto& members = own.members();
  const std::int32_t root_node = map.node_of(p.root);
  const std::int32_t top = p.commutative ? root_node : 0;
  const std::int32_t place = (own.node - top + map.nodes()) % map.nodes();
  const bool leads = own.leads();
  const chunk_ring ring(p, chunks_under_way);
  builder b(p, rank, 3 * ring.room());

  for (std::int32_t c = 0; c < ring.chunks; ++c) {
    const auto cut = [&](piece whole, std::int32_t j) {
      return share_of(whole, j, map.rails, p.granule);
    };
    const auto share = [&](std::int32_t j) { return cut(ring.in_vector(c), j); };
    const auto held = [&](std::uint64_t row, std::int32_t j) {
      return cut(ring.in_place(row * ring.room(), c), j);
    };
    const bool opens = !p.mapped || c == 0;
    const bool again = ring.again(c);
    // The chunk that was in this place before has been read: what was published, then the sum.
    if (leads && !p.mapped && again) b.signal(members);
    if (b.is_root() && again) b.signal(own.leaders());
    for (std::int32_t j = 0; j < map.rails; ++j) {
      if (!p.mapped && again) b.wait(own.leader(j));
      if (j != own.number) b.publish(share(j), held(2, j));
      if (opens) b.signal(own.leader(j));
    }
    if (leads) {
      const span sum = b.scratch(held(0, own.number));
      const span landing = b.scratch(held(1, own.number));
      if (own.node == root_node && again) b.wait(p.root);
      if (opens) b.wait(members);
      b.reduce(sum, b.contributions(members, share(own.number), held(2, own.number)));
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
    for (std::int32_t j = 0; b.is_root() && j < map.rails; ++j) {
      b.wait(own.leader(j));
      b.copy(b.output(share(j)), b.scratch_of(own.leader(j), held(0, j)));
    }
  }
  if (p.count > 0) end(b, own, p.root);
  return b.take();
}

}  // namespace telpher::coll
