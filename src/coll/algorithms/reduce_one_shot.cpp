// SPDX-License-Identifier: BSD-3-Clause
// The root reads every rank's vector and reduces all of it.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule reduce_one_shot(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  builder b(p, rank, p.count);
  if (b.is_root()) {
    b.await_inputs();
    b.reduce(b.output(all), b.contributions(p.ranks, all));
    b.signal_others();
  } else {
    b.publish(all);
    b.offer_input(p.root);
    b.wait(p.root);
  }
  return b.take();
}

}  // namespace telpher::coll
