// SPDX-License-Identifier: BSD-3-Clause
// Each rank computes the results of all ranks for its share of the vector, one after the other,
// into its scratch space; then each reads its shares. Serves exscan as well. About 3 n elements
// over each link, where one_shot has P n at the last rank.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

schedule scan_two_shot(const problem& p, std::int32_t rank) {
  const std::uint64_t stride = aligned(p, share_of(p, 0).count);
  const auto slots = static_cast<std::uint64_t>(p.ranks) * stride;
  builder b(p, rank, slots + p.count);
  const auto published = [&](std::int32_t r) {
    return piece{slots + share_of(p, r).offset, share_of(p, r).count};
  };
  const auto prefix = [&](std::int32_t owner, std::int32_t of) {  // reduced over ranks 0 to `of`
    return b.scratch_of(owner, slot_at(of, stride, share_of(p, owner).count));
  };
  // exscan: nobody needs the last rank's vector, and the first rank needs nothing; in place it has
  // its result.
  const std::int32_t behind = p.what == operation::scan ? 0 : 1;
  const std::int32_t contributors = p.ranks - behind;
  const std::int32_t first_reader = behind == 1 || p.in_place ? 1 : 0;

  if (rank < contributors) {
    for (std::int32_t r = 0; r < p.ranks; ++r)
      if (r != rank) b.publish(share_of(p, r), published(r));
    b.signal_input(b.others());
  }
  for (std::int32_t r = 0; r < contributors; ++r) {
    const span next = b.contribution(r, share_of(p, rank), published(rank));
    b.await_input(r);
    if (r == 0)
      b.copy(prefix(rank, 0), next);
    else
      b.reduce(prefix(rank, r), {prefix(rank, r - 1), next});
  }
  for (std::int32_t r = first_reader; r < p.ranks; ++r) b.signal(r);
  if (rank >= first_reader) {
    for (std::int32_t i = 0; i < p.ranks; ++i) {
      const std::int32_t owner = (rank + i) % p.ranks;
      b.wait(owner);
      b.copy(b.output(share_of(p, owner)), prefix(owner, rank - behind));
    }
    b.signal(b.others());
  }
  for (std::int32_t r = first_reader; r < p.ranks; ++r) b.wait(r);
  return b.take();
}

}  // namespace telpher::coll
