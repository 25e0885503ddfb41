// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter, then allgather: each rank reduces its share of the vector from all ranks. Where
// outputs are mapped it writes the result into every output, and ranks wait for each other once, at
// the end; else the others read it from its scratch space. 2 (P - 1) / P n elements over its links.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

/// Nobody else reads a rank's share of any input, so it may be overwritten as soon as it is read.
schedule into_outputs(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  const piece share = share_of(p, rank);
  b.reduce(b.output(share), b.contributions(p.ranks, share));
  for (const std::int32_t peer : b.others()) b.copy(b.output_of(peer, share), b.output(share));
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
  b.reduce(reduced(rank), b.contributions(p.ranks, share_of(p, rank)));
  b.signal_others();
  b.copy(b.output(share_of(p, rank)), reduced(rank));
  for (const std::int32_t peer : b.others()) {
    b.wait(peer);
    b.copy(b.output(share_of(p, peer)), reduced(peer));
  }
  b.meet();
  return b.take();
}

}  // namespace

schedule allreduce_two_shot(const problem& p, std::int32_t rank) {
  return p.mapped ? into_outputs(p, rank) : through_scratch(p, rank);
}

}  // namespace telpher::coll
