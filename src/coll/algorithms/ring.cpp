// SPDX-License-Identifier: BSD-3-Clause
// Rings of all ranks in rank order, which take no account of nodes except on their edges: inside a
// node a rank reads from the rank before it, between nodes blocks travel as messages. The two-level
// algorithms are compared with them. Allgather and reduce-scatter serve both forms.
#include "coll/algorithms/nodes.hpp"
#include "coll/algorithms/pieces.hpp"

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

schedule gather_piece(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = slot_stride(p);
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const ring own{b};
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };
  if (p.ranks > 1) b.copy(b.scratch(slot(rank)), b.input(b.input_block(rank, rank)));
  b.copy_own_block();
  for (std::int32_t stage = 0; stage + 1 < p.ranks; ++stage) {
    const std::int32_t r = own.after(-stage - 1);
    own.pass(slot(own.after(-stage)));
    b.copy(b.scratch(slot(r)), own.take(slot(r), slot(r)));
    b.copy(b.output(b.output_block(rank, r)), b.scratch(slot(r)));
  }
  own.end();
  return b.take();
}

schedule reduce_piece(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = slot_stride(p);
  const std::uint64_t landings = stride * static_cast<std::uint64_t>(p.ranks);
  builder b(p, rank, 2 * landings);
  const ring own{b};
  const auto slot = [&](std::int32_t r) { return slot_at(r, stride, block_count(p, r, r)); };
  const piece result = {0, block_count(p, rank, rank)};
  if (p.ranks == 1) b.copy(b.output(result), b.input(b.input_block(0, 0)));
  for (std::int32_t stage = 0; stage + 1 < p.ranks; ++stage) {
    const std::int32_t leaving = own.after(-stage - 1), r = own.after(-stage - 2);
    if (stage == 0) b.copy(b.scratch(slot(leaving)), b.input(b.input_block(rank, leaving)));
    own.pass(slot(leaving));
    const span arrived = own.take(slot(r), {landings + slot(r).offset, slot(r).count});
    const bool here = r == rank && !p.in_place;
    b.reduce(here ? b.output(result) : b.scratch(slot(r)),
             {arrived, b.input(b.input_block(rank, r))});
  }
  // The output may overlap the own block of the input in part.
  if (p.in_place && p.ranks > 1) b.copy(b.output(result), b.scratch(slot(rank)));
  own.end();
  return b.take();
}

}  // namespace

schedule allgather_ring(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, gather_piece);
}

schedule reduce_scatter_ring(const problem& p, std::int32_t rank) {
  return in_pieces(p, rank, reduce_piece);
}

/// P - 1 stages of reduce-scatter, P - 1 of allgather, a P-th of the vector in each.
schedule allreduce_ring(const problem& p, std::int32_t rank) {
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

}  // namespace telpher::coll
