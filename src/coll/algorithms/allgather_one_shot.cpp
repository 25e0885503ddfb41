// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads every rank's block. Serves allgatherv as well.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allgather_one_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, aligned(p, largest_block(p)));
  const auto slot = [&](std::int32_t r) { return piece{0, block_count(p, r, r)}; };
  const piece own = b.input_block(rank, rank);
  b.publish(own, slot(rank));
  b.offer_inputs();
  b.copy(b.output(b.output_block(rank, rank)), b.input(own));
  for (std::int32_t i = 1; i < p.ranks; ++i) {
    const std::int32_t peer = (rank + i) % p.ranks;
    b.await_input(peer);
    b.copy(b.output(b.output_block(rank, peer)),
           b.contribution(peer, b.input_block(peer, peer), slot(peer)));
  }
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
