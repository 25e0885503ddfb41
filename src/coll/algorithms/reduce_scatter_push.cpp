// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its blocks into its slots of the others' scratch spaces; each reduces its
// slots. Serves both forms.
#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule reduce_scatter_push(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const auto slot = [&](std::int32_t from) {
    return slot_at(from, stride, block_count(p, from, rank));
  };
  b.push_blocks(stride);
  b.wait_others();
  const piece own = b.input_block(rank, rank);
  std::vector<span> sources;
  for (std::int32_t r = 0; r < p.ranks; ++r)
    sources.push_back(r == rank ? b.input(own) : b.scratch(slot(r)));
  b.reduce(b.output({0, own.count}), std::move(sources));
  return b.take();
}

}  // namespace telpher::coll
