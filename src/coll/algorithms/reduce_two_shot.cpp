// SPDX-License-Identifier: BSD-3-Clause
// Each rank reduces its share of the vector from all ranks, into the root's output where that is
// mapped, else into its scratch space, from where the root collects the shares. 2 n elements over
// the root's link and n over the others', instead of P n over the root's.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

schedule into_output(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  const piece share = share_of(p, rank);
  b.reduce(b.output_of(p.root, share), b.contributions(p.ranks, share));
  b.meet();
  return b.take();
}

schedule through_scratch(const problem& p, std::int32_t rank) {
  builder b(p, rank, 2 * aligned(p, p.count));
  const auto reduced = [&](std::int32_t r) {
    return b.scratch_of(r, {aligned(p, p.count) + share_of(p, r).offset, share_of(p, r).count});
  };
  for (std::int32_t r = 0; r < p.ranks; ++r)
    if (r != rank) b.publish(share_of(p, r));
  b.meet();
  b.reduce(b.is_root() ? b.output(share_of(p, rank)) : reduced(rank),
           b.contributions(p.ranks, share_of(p, rank)));
  if (b.is_root()) {
    for (const std::int32_t peer : b.others()) {
      b.wait(peer);
      b.copy(b.output(share_of(p, peer)), reduced(peer));
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
