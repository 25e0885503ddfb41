// SPDX-License-Identifier: BSD-3-Clause
// Scatter, then allgather among the others, both by writing: the root gives each of the others a
// share, who passes it on to the rest. Outputs that peers reach are written in place, part after
// part, so that one travels on while the root writes the next.
#include <algorithm>

#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule bcast_two_shot_push(const problem& p, std::int32_t rank) {
  // Elements of 16 bytes, where the size allows that: parts of 1 MB, unless they are too many.
  const auto parts =
      p.mapped ? static_cast<std::int32_t>(std::clamp<std::uint64_t>(p.count >> 16, 1, 8)) : 1;
  builder b(p, rank, p.mapped ? 0 : p.count);
  const auto others = [&](const auto& act) {  // but the root
    for (const std::int32_t peer : b.others())
      if (peer != p.root) act(peer);
  };
  const auto share = [&](std::int32_t part, std::int32_t r) {
    const std::int32_t index = (r - p.root - 1 + p.ranks) % p.ranks;
    return share_of(share_of({0, p.count}, part, parts, p.granule), index, p.ranks - 1, p.granule);
  };
  const auto place = [&](std::int32_t r, piece at) {
    return p.mapped ? b.output_of(r, at) : b.scratch_of(r, at);
  };
  for (std::int32_t part = 0; part < parts; ++part) {
    if (b.is_root()) {
      others([&](std::int32_t r) { b.copy(place(r, share(part, r)), b.input(share(part, r))); });
      b.signal(b.others());
      continue;
    }
    const piece own = share(part, rank);
    b.wait(p.root);
    others([&](std::int32_t r) { b.copy(place(r, own), place(rank, own)); });
  }
  if (b.is_root()) return b.take();
  others([&](std::int32_t r) { b.signal(r); });
  if (!p.mapped) b.copy(b.output(share(0, rank)), b.scratch(share(0, rank)));
  others([&](std::int32_t r) {
    b.wait(r);
    if (!p.mapped) b.copy(b.output(share(0, r)), b.scratch(share(0, r)));
  });
  return b.take();
}

}  // namespace telpher::coll
