// SPDX-License-Identifier: BSD-3-Clause
// Every rank reads the root's vector.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule bcast_one_shot(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  builder b(p, rank, p.count);
  if (b.is_root()) {
    b.publish(all);
    b.offer_inputs();
    b.wait_others();
  } else {
    b.await_input(p.root);
    b.copy(b.output(all), b.contribution(p.root, all));
    b.signal(p.root);
  }
  return b.take();
}

}  // namespace telpher::coll
