// SPDX-License-Identifier: BSD-3-Clause
// Every rank signals every rank.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule barrier_one_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
