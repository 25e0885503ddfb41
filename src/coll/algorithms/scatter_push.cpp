// SPDX-License-Identifier: BSD-3-Clause
// The root writes each rank's block into that rank's scratch space. Serves scatterv as well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule scatter_push(const problem& p, std::int32_t rank) {
  builder b(p, rank, aligned(p, largest_block(p)));
  const piece own = {0, block_count(p, p.root, rank)};
  if (!b.is_root()) {
    b.wait(p.root);
    b.copy(b.output(own), b.scratch(own));
    return b.take();
  }
  for (const std::int32_t peer : b.others()) {
    const piece block = b.input_block(rank, peer);
    b.copy(b.scratch_of(peer, {0, block.count}), b.input(block));
    b.signal(peer);
  }
  if (!p.in_place) b.copy(b.output(own), b.input(b.input_block(rank, rank)));
  return b.take();
}

}  // namespace telpher::coll
