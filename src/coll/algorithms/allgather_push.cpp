// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its block into a slot of every rank's scratch space. Serves allgatherv as well.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allgather_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const span own = b.input(b.input_block(rank, rank));
  const piece slot = slot_at(rank, stride, own.count);
  for (std::int32_t i = 1; i < p.ranks; ++i) {
    const std::int32_t peer = (rank + i) % p.ranks;
    b.copy(b.scratch_of(peer, slot), own);
    b.signal(peer);
  }
  b.copy(b.output(b.output_block(rank, rank)), own);
  b.take_blocks(stride);
  return b.take();
}

}  // namespace telpher::coll
