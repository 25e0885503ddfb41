// SPDX-License-Identifier: BSD-3-Clause
// Scatter, then allgather among the others: each reads its share from the root, then the other
// shares from those who have them. n elements leave the root instead of (P - 1) n.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule bcast_two_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, p.count);
  const auto share = [&](std::int32_t r) {  // the root, having all, has none
    const std::int32_t index = (r - p.root - 1 + p.ranks) % p.ranks;
    return share_of({0, p.count}, index, p.ranks - 1, p.granule);
  };
  const auto held = [&](std::int32_t r) {
    return p.mapped ? b.output_of(r, share(r)) : b.scratch_of(r, share(r));
  };
  if (b.is_root()) {
    for (std::int32_t r = 0; r < p.ranks; ++r)
      if (r != rank) b.publish(share(r));
    b.signal_input(b.others());
    b.wait(b.others());
    return b.take();
  }
  b.await_input(p.root);
  b.copy(held(rank), b.contribution(p.root, share(rank)));
  b.signal(b.others());
  b.copy(b.output(share(rank)), held(rank));
  for (const std::int32_t peer : b.others()) {
    if (peer == p.root) continue;
    b.wait(peer);
    b.copy(b.output(share(peer)), held(peer));
    b.signal(peer);
  }
  for (std::int32_t r = 0; r < p.ranks; ++r)
    if (r != p.root) b.wait(r);
  return b.take();
}

}  // namespace telpher::coll
