// SPDX-License-Identifier: BSD-3-Clause
// Allreduce and reduce: each rank adds up its share of the vector from all ranks. Where outputs are
// mapped the rank writes the sum into all outputs that need it, and ranks wait for each other once,
// at the end. Else the others read the sum from its scratch space. Links carry 2 (P - 1) / P n
// elements, in a reduce 2 n at the root and n elsewhere.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

/// Nobody else reads a rank's share of any input, so it may be overwritten as soon as it is read.
schedule into_outputs(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  const piece share = share_of(p, rank);
  const bool rooted = is_rooted(p.what);
  const span sum = b.output_of(rooted ? p.root : rank, share);
  b.reduce(sum, b.contributions(share));
  if (!rooted)
    for (const std::int32_t r : b.others()) b.copy(b.output_of(r, share), sum);
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
  const span own = b.output(share_of(p, rank));
  const bool at_root = is_rooted(p.what) && b.is_root();  // nobody reads its share
  const span sum = at_root ? own : reduced(rank);
  b.reduce(sum, b.contributions(share_of(p, rank)));
  b.signal(b.takers());
  if (gives(p, rank, rank)) b.copy(own, sum);
  for (const std::int32_t r : b.givers()) {
    b.wait(r);
    b.copy(b.output(share_of(p, r)), reduced(r));
  }
  // Signals of those who have the result tell that they read no more.
  b.signal(b.givers());
  b.wait(b.takers());
  return b.take();
}

}  // namespace

schedule two_shot(const problem& p, std::int32_t rank) {
  return p.mapped ? into_outputs(p, rank) : through_scratch(p, rank);
}

}  // namespace telpher::coll
