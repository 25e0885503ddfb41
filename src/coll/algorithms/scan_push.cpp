// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its vector into a slot of the scratch spaces of the ranks after it. Serves
// exscan as well, where a rank's own vector is left out.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule scan_push(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  const std::uint64_t stride = aligned(p, p.count);
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks));
  const auto slot = [&](std::int32_t from) { return slot_at(from, stride, p.count); };
  for (std::int32_t r = rank + 1; r < p.ranks; ++r) {
    b.copy(b.scratch_of(r, slot(rank)), b.input(all));
    b.signal(r);
  }
  std::vector<span> sources;
  for (std::int32_t r = 0; r < rank; ++r) {
    b.wait(r);
    sources.push_back(b.scratch(slot(r)));
  }
  if (p.what == operation::scan) sources.push_back(b.input(all));
  b.reduce(b.output(all), std::move(sources));
  return b.take();
}

}  // namespace telpher::coll
