// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its blocks into its slots of the others' scratch spaces. Serves alltoallv as
// well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule alltoall_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  b.push_blocks(stride);
  b.copy_own_block();
  b.take_blocks(stride);
  return b.take();
}

}  // namespace telpher::coll
