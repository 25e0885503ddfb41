// SPDX-License-Identifier: BSD-3-Clause
// The root writes its vector into every rank's scratch space.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule bcast_push(const problem& p, std::int32_t rank) {
  const piece all = {0, p.count};
  builder b(p, rank, p.count);
  if (b.is_root()) {
    for (const std::int32_t peer : b.others()) {
      b.copy(b.scratch_of(peer, all), b.input(all));
      b.signal(peer);
    }
  } else {
    b.wait(p.root);
    b.copy(b.output(all), b.scratch(all));
  }
  return b.take();
}

}  // namespace telpher::coll
