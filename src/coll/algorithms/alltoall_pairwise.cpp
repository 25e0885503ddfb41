// SPDX-License-Identifier: BSD-3-Clause
// Inside a node every rank reads its block from every rank. Between nodes blocks travel as messages
// from buffer to buffer: in step d to the rank d places on. Serves alltoallv as well. In place the
// blocks are published, since a rank writes where others still read.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

namespace telpher::coll {
namespace {

schedule one_piece(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const auto& members = map.members_of(map.node_of(rank));
  const std::uint64_t stride = slot_stride(p);
  const bool exposed = p.mapped && !p.in_place;
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks), exposed);
  const auto slot = [&](std::int32_t from, std::int32_t to) {
    return slot_at(to, stride, block_count(p, from, to));
  };
  for (std::int32_t to = 0; to < p.ranks; ++to)
    if (to != rank && (p.in_place || map.same_node(rank, to)))
      b.publish(b.input_block(rank, to), slot(rank, to));
  b.signal(members);
  b.copy_own_block();
  const auto to = [&](std::int32_t i) { return (rank + i) % p.ranks; };
  const auto from = [&](std::int32_t i) { return (rank - i + p.ranks) % p.ranks; };
  const auto place_of = [&](std::int32_t r) { return b.output(b.output_block(rank, r)); };
  for (std::int32_t i = 1; i < p.ranks; ++i)
    if (!map.same_node(rank, to(i)))
      b.send(to(i),
             p.in_place ? b.scratch(slot(rank, to(i))) : b.input(b.input_block(rank, to(i))));
  for (std::int32_t i = 1; i < p.ranks; ++i) {
    const std::int32_t r = from(i);
    if (!map.same_node(rank, r)) continue;
    b.wait(r);
    b.copy(place_of(r), b.contribution(r, b.input_block(r, rank), slot(r, rank)));
  }
  b.next_stage();
  for (std::int32_t i = 1; i < p.ranks; ++i)
    if (!map.same_node(rank, from(i))) b.receive(from(i), place_of(from(i)));
  b.signal(members);
  b.wait(members);
  return b.take();
}

}  // namespace

schedule alltoall_pairwise(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, one_piece);
}

}  // namespace telpher::coll
