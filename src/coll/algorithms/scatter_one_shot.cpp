// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads its block from the root. Serves scatterv as well. In place the root's own block
// stays where it is.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule scatter_one_shot(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const auto slot = [&](std::int32_t to) {
    return slot_at(to, stride, block_count(p, p.root, to));
  };
  const piece own = {0, block_count(p, p.root, rank)};
  if (b.is_root()) {
    for (std::int32_t to = 0; to < p.ranks; ++to)
      if (to != rank) b.publish(b.input_block(rank, to), slot(to));
    b.offer_inputs();
    if (!p.in_place) b.copy(b.output(own), b.input(b.input_block(rank, rank)));
    b.wait_others();
  } else {
    b.await_input(p.root);
    b.copy(b.output(own), b.contribution(p.root, b.input_block(p.root, rank), slot(rank)));
    b.signal(p.root);
  }
  return b.take();
}

}  // namespace telpher::coll
