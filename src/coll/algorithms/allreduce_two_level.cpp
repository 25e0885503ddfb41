// SPDX-License-Identifier: BSD-3-Clause
// The frame: chunks, phases in the node, slots of time.
#include "coll/algorithms/allreduce_two_level.hpp"

#include <algorithm>

namespace telpher::coll {
namespace {

class frame {
 public:
  frame(const problem& p, std::int32_t rank, const second_level& among)
      : p_(p),
        map_(map_of(p)),
        among_(among),
        own_{map_, map_.local_of(rank), map_.node_of(rank)},
        members_(map_.members_of(own_.node)),
        chunk_(aligned(p, p.chunk == 0 || p.chunk > p.count ? p.count : p.chunk)),
        chunks_(chunk_ == 0 ? 0 : static_cast<std::int32_t>((p.count + chunk_ - 1) / chunk_)),
        room_(aligned(
            p, among.room(map_.nodes(), share_of({0, chunk_}, 0, map_.lanes, p.granule).count,
                          p.granule))),
        published_(aligned(p, p.count) + room_ * static_cast<std::uint64_t>(chunks_)),
        b_(p, rank, published_ + p.count) {}

  schedule operator()() {
    if (chunks_ == 0) return b_.take();
    const std::int32_t stages = among_.stages(map_.nodes());
    for (std::int32_t slot = 0; slot < chunks_ + stages; ++slot) {
      if (slot < chunks_) reduce_in_node(slot);
      const std::int32_t oldest = std::max(0, slot - stages);
      const std::int32_t newest = std::min(slot, chunks_ - 1);
      if (leads())
        for (std::int32_t c = oldest; c <= newest; ++c)
          if (slot - c < stages) among_.send(b_, own_, slot - c, share(c, own_.number));
      if (leads())
        for (std::int32_t c = oldest; c <= newest; ++c)
          if (slot - c < stages) among_.receive(b_, own_, slot - c, share(c, own_.number));
      if (slot >= stages) gather_in_node(slot - stages);
    }
    close();
    return b_.take();
  }

 private:
  bool leads() const { return own_.number < map_.lanes; }
  std::int32_t leader(std::int32_t j) const { return map_.leader(own_.node, j); }

  portion share(std::int32_t chunk, std::int32_t lane_number) const {
    const std::uint64_t begin = static_cast<std::uint64_t>(chunk) * chunk_;
    const piece whole = {begin, std::min(chunk_, p_.count - begin)};
    return {share_of(whole, lane_number, map_.lanes, p_.granule),
            aligned(p_, p_.count) + room_ * static_cast<std::uint64_t>(chunk), p_.granule};
  }
  piece published(piece at) const { return {published_ + at.offset, at.count}; }

  void reduce_in_node(std::int32_t chunk) {
    const bool opens =
        !p_.mapped || chunk == 0;  // mapped inputs are there from the first signal on
    for (std::int32_t j = 0; j < map_.lanes; ++j)
      if (j != own_.number) b_.publish(share(chunk, j).at, published(share(chunk, j).at));
    for (std::int32_t j = 0; opens && j < map_.lanes; ++j) b_.signal(leader(j));
    if (!leads()) return;
    if (opens) b_.wait(members_);
    const piece at = share(chunk, own_.number).at;
    b_.reduce(b_.scratch(at), b_.contributions(members_, at, published(at)));
  }

  void gather_in_node(std::int32_t chunk) {
    if (leads()) b_.signal(members_);
    for (std::int32_t i = 0; i < map_.lanes; ++i) {
      const std::int32_t j = (own_.number + i) % map_.lanes;
      const piece at = share(chunk, j).at;
      b_.wait(leader(j));
      b_.copy(b_.output(at), b_.scratch_of(leader(j), at));
    }
  }

  void close() {
    for (std::int32_t j = 0; j < map_.lanes; ++j) b_.signal(leader(j));
    if (leads()) b_.wait(members_);
  }

  const problem& p_;
  const node_map& map_;
  const second_level& among_;
  lane own_;
  const std::vector<std::int32_t>& members_;
  std::uint64_t chunk_;
  std::int32_t chunks_;
  std::uint64_t room_;
  std::uint64_t published_;  // where the published input begins in scratch
  builder b_;
};

}  // namespace

schedule make_two_level(const problem& p, std::int32_t rank, const second_level& among) {
  return frame(p, rank, among)();
}

}  // namespace telpher::coll
