// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its blocks into its slots of the others' scratch spaces; each reduces its
// slots. Serves both forms.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule reduce_scatter_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  b.push_blocks(stride);
  b.wait_others();
  const piece own = b.input_block(rank, rank);
  b.reduce(b.output({0, own.count}), b.slots_and(own, stride));
  return b.take();
}

}  // namespace telpher::coll
