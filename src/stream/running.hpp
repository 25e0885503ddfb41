// SPDX-License-Identifier: BSD-3-Clause
// What is under way at the proxy (proxy.cpp), in the order in which it was begun or launched.
#pragma once

#include <vector>

#include "stream/queue.hpp"

namespace telpher::stream {

struct running {
  queue* of;
  item what;
  replayed* replay;  // or null
};

/// Counts out launched operations that their streams do not wait for, and have passed. Streams pass
/// them in order, so of each stream the first one is asked that it had not passed. Not in each look
/// of the proxy's: to ask may be a call of the vendor's.
inline void count_reached(std::vector<running>& all, std::uint64_t look) noexcept {
  constexpr std::uint64_t looks_between = 16;
  if (look % looks_between != 0) return;
  for (running& r : all) {
    item& i = r.what;
    if (!i.counted || i.holds || !i.is_launched() || r.of->unreached == look) continue;
    if (static_cast<const launched&>(*i.op).is_reached())
      i.count_out();
    else
      r.of->unreached = look;
  }
}

}  // namespace telpher::stream
