// SPDX-License-Identifier: BSD-3-Clause
// The root reads every rank's block. Serves gatherv as well.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule gather_one_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, aligned(p, largest_block(p)));
  const auto slot = [&](std::int32_t r) { return piece{0, block_count(p, r, r)}; };
  const piece own = b.input_block(rank, rank);
  if (!b.is_root()) {
    b.publish(own, slot(rank));
    b.offer_input(p.root);
    b.wait(p.root);
    return b.take();
  }
  b.copy(b.output(b.output_block(rank, rank)), b.input(own));
  for (std::int32_t i = 1; i < p.ranks; ++i) {
    const std::int32_t peer = (rank + i) % p.ranks;
    b.await_input(peer);
    b.copy(b.output(b.output_block(rank, peer)),
           b.contribution(peer, b.input_block(peer, peer), slot(peer)));
    b.signal(peer);
  }
  return b.take();
}

}  // namespace telpher::coll
