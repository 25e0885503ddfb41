// SPDX-License-Identifier: BSD-3-Clause
// One step, by reading: every rank reads what its result needs from those who give it, and adds it
// up or copies it to its place. Nobody passes anything on: for short vectors, and for blocks that
// go to one rank each. Where an input may be overwritten while others still read it (in place),
// ranks publish copies. Blocks of one size are written instead, where outputs are mapped: each into
// all the outputs that need it.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

/// Of a v-form's outputs each rank knows the layout of its own only.
bool writes_outputs(const problem& p) {
  return p.mapped && takes_blocks(p.what) && !is_v_form(p.what) &&
         !(p.in_place && gives_blocks(p.what));
}

/// In place a rank may write its result where others still read.
bool may_expose(const problem& p) {
  const bool alltoall = gives_blocks(p.what) && takes_blocks(p.what);
  const bool overwrites = alltoall || (is_reduction(p.what) && !is_rooted(p.what));
  return p.mapped && !(p.in_place && overwrites);
}

schedule into_outputs(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  b.copy_own_block();
  for (const std::int32_t r : b.takers())
    b.copy(b.output_of(r, b.output_block(r, rank)), b.input(b.input_block(rank, r)));
  b.signal(b.takers());
  b.wait(b.givers());
  return b.take();
}

/// Where ranks publish: what is added up, as it lies in the input; else in slots, one for each rank
/// that gets another block.
struct published {
  const problem& p;
  bool sums = is_reduction(p.what);
  bool slots = gives_blocks(p.what);
  std::uint64_t stride = aligned(p, largest_block(p));

  piece of(std::int32_t from, std::int32_t to) const {
    const std::uint64_t count = block_count(p, from, to);
    return sums ? piece{input_offset(p, from, to), count} : slot_at(slots ? to : 0, stride, count);
  }
  std::uint64_t elements(std::int32_t rank) const {
    const piece last = of(rank, p.ranks - 1);
    return sums ? last.offset + last.count : last.offset + stride;
  }
};

}  // namespace

schedule one_shot(const problem& p, std::int32_t rank) {
  if (writes_outputs(p)) return into_outputs(p, rank);
  const published at{p};
  builder b(p, rank, at.elements(rank), may_expose(p));
  for (const std::int32_t r : b.takers()) {
    b.publish(b.input_block(rank, r), at.of(rank, r));
    if (!gives_blocks(p.what)) break;
  }
  b.signal_input(b.takers());
  const auto given = [&](std::int32_t r) {
    return b.contribution(r, b.input_block(r, rank), at.of(r, rank));
  };
  if (!at.sums) b.copy_own_block();
  for (const std::int32_t r : b.givers()) {
    b.await_input(r);
    if (!at.sums) b.copy(b.output(b.output_block(rank, r)), given(r));
  }
  if (at.sums) b.reduce(b.output(b.output_block(rank, rank)), b.all_given(given));
  b.signal(b.givers());
  b.wait(b.takers());
  return b.take();
}

}  // namespace telpher::coll
