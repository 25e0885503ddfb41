// SPDX-License-Identifier: BSD-3-Clause
// Reduce-scatter, then allgather, both by writing. Each rank writes everyone's share into a slot of
// the scratch space of the share's owner. The owner reduces the slots and writes the sum into a
// slot of every rank. 2 (P - 1) / P n elements go over a rank's links; `push` writes (P - 1) n in
// one go.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allreduce_two_shot_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, share_of(p, 0).count);  // the largest
  builder b(p, rank, 2 * stride * static_cast<std::uint64_t>(p.ranks));
  const auto slot_of_sum = [&](std::int32_t r) {
    return slot_at(p.ranks + r, stride, share_of(p, r).count);
  };

  for (const std::int32_t peer : b.others()) {
    b.copy(b.scratch_of(peer, slot_at(rank, stride, share_of(p, peer).count)),
           b.input(share_of(p, peer)));
    b.signal(peer);
  }
  b.wait(b.others());
  const span sum = b.output(share_of(p, rank));
  b.reduce(sum, b.all_given([&](std::int32_t r) {
    return r == rank ? b.input(share_of(p, rank)) : b.scratch(slot_at(r, stride, sum.count));
  }));
  for (const std::int32_t peer : b.others()) {
    b.copy(b.scratch_of(peer, slot_of_sum(rank)), sum);
    b.signal(peer);
  }
  for (const std::int32_t peer : b.others()) {
    b.wait(peer);
    b.copy(b.output(share_of(p, peer)), b.scratch(slot_of_sum(peer)));
  }
  return b.take();
}

}  // namespace telpher::coll
