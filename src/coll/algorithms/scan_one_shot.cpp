// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads the vectors of the ranks before it and reduces them. Serves exscan as well,
// where a rank's own vector is left out. In place the vectors are published, since a rank writes
// its result while others still read.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule scan_one_shot(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  builder b(p, rank, p.count, p.mapped && !p.in_place);
  if (rank + 1 < p.ranks) b.publish(all);
  for (std::int32_t r = rank + 1; r < p.ranks; ++r) b.offer_input(r);
  for (std::int32_t r = 0; r < rank; ++r) b.await_input(r);
  b.reduce(b.output(all), b.contributions(p.what == operation::scan ? rank + 1 : rank, all));
  for (std::int32_t r = 0; r < rank; ++r) b.signal(r);
  for (std::int32_t r = rank + 1; r < p.ranks; ++r) b.wait(r);
  return b.take();
}

}  // namespace telpher::coll
