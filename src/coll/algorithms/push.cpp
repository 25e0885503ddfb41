// SPDX-License-Identifier: BSD-3-Clause
// One step, by writing: every rank writes what it gives to another into a slot of that one's
// scratch space, and each then adds up its slots or copies them to their places.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule push(const problem& p, std::int32_t rank) {
  const bool one_giver = is_from_root(p.what);
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, one_giver ? stride : stride * static_cast<std::uint64_t>(p.ranks));
  const auto slot = [&](std::int32_t from, std::int32_t to) {
    return slot_at(one_giver ? 0 : from, stride, block_count(p, from, to));
  };
  for (const std::int32_t r : b.takers()) {
    b.copy(b.scratch_of(r, slot(rank, r)), b.input(b.input_block(rank, r)));
    b.signal(r);
  }
  const bool sums = is_reduction(p.what);
  if (!sums) b.copy_own_block();
  for (const std::int32_t r : b.givers()) {
    b.wait(r);
    if (!sums) b.copy(b.output(b.output_block(rank, r)), b.scratch(slot(r, rank)));
  }
  const auto given = [&](std::int32_t r) {
    return r == rank ? b.input(b.input_block(r, r)) : b.scratch(slot(r, rank));
  };
  if (sums) b.reduce(b.output(b.output_block(rank, rank)), b.all_given(given));
  return b.take();
}

}  // namespace telpher::coll
