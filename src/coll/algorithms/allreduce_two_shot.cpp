// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter, then allgather: each rank reduces its share of the vector from all ranks, then
// reads the other shares from those who reduced them. 2 (P - 1) / P n elements over its links.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allreduce_two_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, 2 * aligned(p, p.count));
  const auto share = [&](std::int32_t r) { return share_of({0, p.count}, r, p.ranks, p.granule); };
  const auto reduced = [&](std::int32_t r) {  // where peers find r's share of the result
    const piece at = share(r);
    return p.mapped ? b.output_of(r, at)
                    : b.scratch_of(r, {aligned(p, p.count) + at.offset, at.count});
  };
  for (std::int32_t r = 0; r < p.ranks; ++r)
    if (r != rank) b.publish(share(r));
  b.meet();
  b.reduce(reduced(rank), b.contributions(p.ranks, share(rank)));
  b.signal_others();
  b.copy(b.output(share(rank)), reduced(rank));
  for (std::int32_t i = 1; i < p.ranks; ++i) {
    const std::int32_t peer = (rank + i) % p.ranks;
    b.wait(peer);
    b.copy(b.output(share(peer)), reduced(peer));
  }
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
