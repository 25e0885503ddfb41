// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its block into its slot of the root's scratch space. Serves gatherv as well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule gather_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const span own = b.input(b.input_block(rank, rank));
  const piece slot = slot_at(rank, stride, own.count);
  if (!b.is_root()) {
    b.copy(b.scratch_of(p.root, slot), own);
    b.signal(p.root);
    return b.take();
  }
  b.copy_own_block();
  b.take_blocks(stride);
  return b.take();
}

}  // namespace telpher::coll
