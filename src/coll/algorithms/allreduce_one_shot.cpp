// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads every rank's vector and reduces all of it: one phase, (P - 1) n elements over
// its links. For small vectors. In place the vectors are published, since a rank writes its result
// while others still read.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule allreduce_one_shot(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  builder b(p, rank, p.count, p.mapped && !p.in_place);
  b.publish(all);
  b.offer_inputs();
  b.await_inputs();
  b.reduce(b.output(all), b.contributions(b.ranks(), all));
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
