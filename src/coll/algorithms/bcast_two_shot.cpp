// SPDX-License-Identifier: BSD-3-Clause
// Scatter, then allgather among the others: each reads its share from the root, then the other
// shares from those who have them. n elements leave the root instead of (P - 1) n. Chunk by chunk,
// so that the links of the others are busy while the root's is.
#include <algorithm>

#include "coll/algorithms/catalogue.hpp"
#include "coll/schedule/builder.hpp"

namespace telpher::coll {
namespace {

/// What one of the others does with a chunk.
class reader {
 public:
  reader(const problem& p, builder& b) : p_(p), b_(b) {}

  /// Reads the own share from the root.
  void fetch(piece chunk) {
    const piece own = share(chunk, b_.rank());
    if (own.count == 0) return;
    b_.await_input(p_.root);
    b_.copy(held(chunk, b_.rank()), b_.contribution(p_.root, own));
    for_others([&](std::int32_t peer) { b_.signal(peer); });
    b_.copy(b_.output(own), held(chunk, b_.rank()));
  }
  /// Reads what the others have fetched.
  void collect(piece chunk) {
    if (chunk.count == 0) return;
    for_others([&](std::int32_t peer) {
      if (share(chunk, peer).count == 0) return;
      b_.wait(peer);
      b_.copy(b_.output(share(chunk, peer)), held(chunk, peer));
    });
  }

  piece share(piece chunk, std::int32_t r) const {  // the root, having all, has none
    const std::int32_t index = (r - p_.root - 1 + p_.ranks) % p_.ranks;
    return share_of(chunk, index, p_.ranks - 1, p_.granule);
  }

 private:
  span held(piece chunk, std::int32_t r) const {
    return p_.mapped ? b_.output_of(r, share(chunk, r)) : b_.scratch_of(r, share(chunk, r));
  }
  template <class Do>
  void for_others(Do&& what) const {
    for (std::int32_t i = 1; i < p_.ranks; ++i)
      if (const std::int32_t peer = (b_.rank() + i) % p_.ranks; peer != p_.root) what(peer);
  }

  const problem& p_;
  builder& b_;
};

}  // namespace

schedule bcast_two_shot(const problem& p, std::int32_t rank) {
  builder b(p, rank, p.count);
  reader work(p, b);
  // In a chunk, each of the others has a share.
  const std::uint64_t least = p.granule * static_cast<std::uint64_t>(std::max(1, p.ranks - 1));
  const std::uint64_t step = std::max(least, aligned(p, p.chunk == 0 ? p.count : p.chunk));
  piece before;
  for (std::uint64_t begin = 0; begin < p.count; begin += step) {
    const piece chunk = {begin, std::min(step, p.count - begin)};
    if (b.is_root()) {
      for (std::int32_t r = 0; r < p.ranks; ++r) {
        if (r == rank || work.share(chunk, r).count == 0) continue;
        b.publish(work.share(chunk, r));
        b.offer_input(r);
      }
      continue;
    }
    work.fetch(chunk);
    work.collect(before);
    before = chunk;
  }
  if (p.count == 0) return b.take();
  if (!b.is_root()) work.collect(before);
  if (!b.is_root()) b.signal_others();
  for (std::int32_t r = 0; r < p.ranks; ++r)
    if (r != p.root) b.wait(r);
  return b.take();
}

}  // namespace telpher::coll
