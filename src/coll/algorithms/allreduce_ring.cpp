// SPDX-License-Identifier: BSD-3-Clause
// A ring of all ranks in rank order, blind to nodes but for its edges: P - 1 stages of
// reduce-scatter, P - 1 of allgather, a P-th of the vector in each. What the two-level algorithms
// are compared with.
#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {

schedule allreduce_ring(const problem& p, std::int32_t rank) {
  const node_map& map = map_of(p);
  const std::uint64_t landings = aligned(p, p.count);
  builder b(p, rank, 2 * landings);
  const std::int32_t next = (rank + 1) % p.ranks;
  const std::int32_t before = (rank - 1 + p.ranks) % p.ranks;
  const bool reads = map.same_node(rank, before);  // else it receives
  const auto part = [&](std::int32_t i) { return share_of(p, (i + 2 * p.ranks) % p.ranks); };
  if (p.ranks == 1) b.copy(b.output(part(0)), b.input(part(0)));

  for (std::int32_t stage = 0; stage < 2 * (p.ranks - 1); ++stage) {
    const bool gathers = stage >= p.ranks - 1;
    const std::int32_t shift = gathers ? stage - p.ranks : stage;
    const piece leaving = part(rank - shift);
    const piece coming = part(rank - shift - 1);
    if (stage == 0) b.copy(b.scratch(leaving), b.input(leaving));
    if (map.same_node(rank, next))
      b.signal(next);
    else
      b.send(next, b.scratch(leaving));
    const piece landing = {landings + coming.offset, coming.count};
    const span arrived =
        reads ? b.scratch_of(before, coming) : b.scratch(gathers ? coming : landing);
    if (reads)
      b.wait(before);
    else
      b.receive(before, arrived);
    if (!gathers)
      b.reduce(b.scratch(coming), {arrived, b.input(coming)});
    else if (reads)
      b.copy(b.scratch(coming), arrived);
    if (stage == p.ranks - 1) b.copy(b.output(leaving), b.scratch(leaving));
    if (gathers) b.copy(b.output(coming), b.scratch(coming));
  }
  if (p.ranks > 1 && reads) b.signal(before);
  if (p.ranks > 1 && map.same_node(rank, next)) b.wait(next);
  return b.take();
}

}  // namespace telpher::coll
