// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its vector into a slot of every rank's scratch space, then reduces the slots.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allreduce_push(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  const std::uint64_t stride = aligned(p, p.count);
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const piece slot = slot_at(rank, stride, p.count);
  for (const std::int32_t peer : b.others()) {
    b.copy(b.scratch_of(peer, slot), b.input(all));
    b.signal(peer);
  }
  b.wait_others();
  b.reduce(b.output(all), b.slots_and(all, stride));
  return b.take();
}

}  // namespace telpher::coll
