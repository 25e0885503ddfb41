// SPDX-License-Identifier: BSD-3-Clause
// A ring of all ranks in rank order, blind to nodes but for its edges: inside a node a rank reads
// from the rank before it, between nodes blocks travel as messages. Serves allgatherv as well.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

namespace telpher::coll {
namespace {

schedule one_piece(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const std::uint64_t stride = slot_stride(p);
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const std::int32_t next = (rank + 1) % p.ranks;
  const std::int32_t before = (rank - 1 + p.ranks) % p.ranks;
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };

  if (p.ranks > 1) b.copy(b.scratch(slot(rank)), b.input(b.input_block(rank, rank)));
  b.copy_own_block();
  for (std::int32_t stage = 0; stage + 1 < p.ranks; ++stage) {
    const std::int32_t leaving = (rank - stage + p.ranks) % p.ranks;
    const std::int32_t coming = (leaving - 1 + p.ranks) % p.ranks;
    if (map.same_node(rank, next))
      b.signal(next);
    else
      b.send(next, b.scratch(slot(leaving)));
    if (map.same_node(rank, before)) {
      b.wait(before);
      b.copy(b.scratch(slot(coming)), b.scratch_of(before, slot(coming)));
    } else {
      b.receive(before, b.scratch(slot(coming)));
    }
    b.copy(b.output(b.output_block(rank, coming)), b.scratch(slot(coming)));
  }
  if (p.ranks > 1 && map.same_node(rank, before)) b.signal(before);
  if (p.ranks > 1 && map.same_node(rank, next)) b.wait(next);
  return b.take();
}

}  // namespace

schedule allgather_ring(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, one_piece);
}

}  // namespace telpher::coll
