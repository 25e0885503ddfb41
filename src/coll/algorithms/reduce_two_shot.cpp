// SPDX-License-Identifier: BSD-3-Clause
// Each rank reduces its share of the vector from all ranks, into the root's output where that is
// mapped, else into its scratch space, from where the root collects the shares. 2 n elements over
// the root's link and n over the others', instead of P n over the root's.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

schedule into_output(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  const piece share = share_of({0, p.count}, rank, p.ranks, p.granule);
  b.reduce(b.output_of(p.root, share), b.contributions(p.ranks, share));
  b.meet();
  return b.take();
}

schedule through_scratch(const problem& p, std::int32_t rank) {
  builder b(p, rank, 2 * aligned(p, p.count));
  const auto share = [&](std::int32_t r) { return share_of({0, p.count}, r, p.ranks, p.granule); };
  const auto reduced = [&](std::int32_t r) {
    const piece at = share(r);
    return b.scratch_of(r, {aligned(p, p.count) + at.offset, at.count});
  };
  for (std::int32_t r = 0; r < p.ranks; ++r)
    if (r != rank) b.publish(share(r));
  b.meet();
  b.reduce(b.is_root() ? b.output(share(rank)) : reduced(rank),
           b.contributions(p.ranks, share(rank)));
  if (b.is_root()) {
    for (std::int32_t i = 1; i < p.ranks; ++i) {
      const std::int32_t peer = (rank + i) % p.ranks;
      b.wait(peer);
      b.copy(b.output(share(peer)), reduced(peer));
    }
    b.signal_others();
  } else {
    // The root hears of all and speaks last: its signal tells that nobody reads any more.
    b.signal(p.root);
    b.wait(p.root);
  }
  return b.take();
}

}  // namespace

schedule reduce_two_shot(const problem& p, std::int32_t rank) {
  return p.mapped ? into_output(p, rank) : through_scratch(p, rank);
}

}  // namespace telpher::coll
