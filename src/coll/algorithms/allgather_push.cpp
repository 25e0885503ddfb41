// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its block into a slot of every rank's scratch space. Serves allgatherv as well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allgather_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const span own = b.input(b.input_block(rank, rank));
  const piece slot = slot_at(rank, stride, own.count);
  for (const std::int32_t peer : b.others()) {
    b.copy(b.scratch_of(peer, slot), own);
    b.signal(peer);
  }
  b.copy_own_block();
  b.take_blocks(stride);
  return b.take();
}

}  // namespace telpher::coll
