// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads its block from every rank and reduces. Serves both forms. In place the blocks
// are published, since a rank writes where others still read; blocks of different sizes would then
// be written in other slices than they are read, which the catalogue forbids.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule reduce_scatter_one_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, input_offset(p, rank, p.ranks - 1) + block_count(p, rank, p.ranks - 1),
            p.mapped && !p.in_place);
  for (std::int32_t to = 0; to < p.ranks; ++to)
    if (to != rank) b.publish(b.input_block(rank, to));
  b.offer_inputs();
  b.await_inputs();
  const piece own = b.input_block(rank, rank);
  b.reduce(b.output({0, own.count}), b.contributions(p.ranks, own));
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
