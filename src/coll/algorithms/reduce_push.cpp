// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its vector into a slot of the root's scratch space; the root reduces the slots.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule reduce_push(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  const std::uint64_t stride = aligned(p, p.count);
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const piece slot = slot_at(rank, stride, p.count);
  if (!b.is_root()) {
    b.copy(b.scratch_of(p.root, slot), b.input(all));
    b.signal(p.root);
    return b.take();
  }
  b.wait_others();
  b.reduce(b.output(all), b.slots_and(all, stride));
  return b.take();
}

}  // namespace telpher::coll
