// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/flat_ring.hpp"

#include "coll/algorithms/nodes.hpp"

namespace telpher::coll {
namespace {

/// One rank's place in the ring.
struct ring {
  builder& b;
  const node_map& map = map_of(b.what());
  std::int32_t next = after(1), before = after(-1);
  bool reads = map.same_node(b.rank(), before);  // else it receives
  bool is_read = map.same_node(b.rank(), next);

  std::int32_t after(std::int32_t distance) const {
    return (b.rank() + distance % b.ranks() + b.ranks()) % b.ranks();
  }
  /// Hands a piece of the own scratch space on.
  void pass(piece leaving) const {
    if (is_read)
      b.signal(next);
    else
      b.send(next, b.scratch(leaving));
  }
  /// What the rank before has passed from that piece of its scratch space: there, or in `landing`.
  span take(piece coming, piece landing) const {
    if (reads) {
      b.wait(before);
      return b.scratch_of(before, coming);
    }
    b.receive(before, b.scratch(landing));
    return b.scratch(landing);
  }
  /// Nobody reads any more.
  void end() const {
    if (reads) b.signal(before);
    if (is_read) b.wait(next);
  }
};

/// P - 1 stages of reduce-scatter, P - 1 of allgather, a P-th of the vector in each.
schedule make(const problem& p, std::int32_t rank) {
  const std::uint64_t landings = aligned(p, p.count);
  builder b(p, rank, 2 * landings);
  const ring own{b};
  const auto part = [&](std::int32_t distance) { return share_of(p, own.after(distance)); };
  if (p.ranks == 1) b.copy(b.output(part(0)), b.input(part(0)));
  for (std::int32_t stage = 0; stage < 2 * (p.ranks - 1); ++stage) {
    const bool gathers = stage >= p.ranks - 1;
    const std::int32_t shift = gathers ? stage - p.ranks : stage;
    const piece leaving = part(-shift), coming = part(-shift - 1);
    if (stage == 0) b.copy(b.scratch(leaving), b.input(leaving));
    own.pass(leaving);
    const span arrived =
        own.take(coming, gathers ? coming : piece{landings + coming.offset, coming.count});
    if (!gathers)
      b.reduce(b.scratch(coming), {arrived, b.input(coming)});
    else
      b.copy(b.scratch(coming), arrived);
    if (stage == p.ranks - 1) b.copy(b.output(leaving), b.scratch(leaving));
    if (gathers) b.copy(b.output(coming), b.scratch(coming));
  }
  own.end();
  return b.take();
}

}  // namespace

std::vector<algorithm> with_flat_ring() {
  const auto all = algorithms();
  std::vector<algorithm> rows(all.begin(), all.end());
  rows.push_back({"ring", operation::allreduce, commutative_only | between_nodes, make});
  return rows;
}

}  // namespace telpher::coll
