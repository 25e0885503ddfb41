// SPDX-License-Identifier: BSD-3-Clause
// A ring of all ranks in rank order, blind to nodes but for its edges. Serves both forms.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

namespace telpher::coll {
namespace {

schedule one_piece(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const std::uint64_t stride = slot_stride(p);
  const std::uint64_t landings = stride * static_cast<std::uint64_t>(p.ranks);
  builder b(p, rank, 2 * landings);
  const std::int32_t next = (rank + 1) % p.ranks;
  const std::int32_t before = (rank - 1 + p.ranks) % p.ranks;
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };
  const piece result = {0, block_count(p, rank, rank)};
  if (p.ranks == 1) b.copy(b.output(result), b.input(b.input_block(0, 0)));

  for (std::int32_t stage = 0; stage + 1 < p.ranks; ++stage) {
    const std::int32_t leaving = (rank - stage - 1 + p.ranks) % p.ranks;
    const std::int32_t coming = (leaving - 1 + p.ranks) % p.ranks;
    if (stage == 0) b.copy(b.scratch(slot(leaving)), b.input(b.input_block(rank, leaving)));
    if (map.same_node(rank, next))
      b.signal(next);
    else
      b.send(next, b.scratch(slot(leaving)));
    span arrived = b.scratch_of(before, slot(coming));
    if (map.same_node(rank, before)) {
      b.wait(before);
    } else {
      arrived = b.scratch({landings + slot(coming).offset, slot(coming).count});
      b.receive(before, arrived);
    }
    b.reduce(coming == rank ? b.output(result) : b.scratch(slot(coming)),
             {arrived, b.input(b.input_block(rank, coming))});
  }
  if (p.ranks > 1 && map.same_node(rank, before)) b.signal(before);
  if (p.ranks > 1 && map.same_node(rank, next)) b.wait(next);
  return b.take();
}

}  // namespace

schedule reduce_scatter_ring(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, one_piece);
}

}  // namespace telpher::coll
