// SPDX-License-Identifier: BSD-3-Clause
// The frame: chunks, phases in the node, slots of time.
//
// Scratch is a ring of places, one for each chunk that may be under way; a last chunk that is
// shorter has one of its own, so that a place is always cut alike. A place is free when its chunk
// was gathered: leaders have then read what was published there, because they signalled after it;
// members have read the sum when they signal for the place's next chunk.
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
        whole_(chunk_ == 0 ? 0 : static_cast<std::int32_t>(p.count / chunk_)),
        stages_(among.stages(map_.nodes())),
        ring_(std::min(whole_, stages_ + 1)),
        room_(aligned(
            p, among.room(map_.nodes(), share_of({0, chunk_}, 0, map_.lanes, p.granule).count,
                          p.granule))),
        b_(p, rank, static_cast<std::uint64_t>(places()) * (2 * chunk_ + room_)) {}

  schedule operator()() {
    if (chunks_ == 0) return b_.take();
    for (std::int32_t slot = 0; slot < chunks_ + stages_; ++slot) {
      if (slot < chunks_) reduce_in_node(slot);
      const std::int32_t oldest = std::max(0, slot - stages_);
      const std::int32_t newest = std::min(slot, chunks_ - 1);
      if (leads())
        for (std::int32_t c = oldest; c <= newest; ++c)
          if (slot - c < stages_) among_.send(b_, own_, slot - c, share(c, own_.number));
      if (leads())
        for (std::int32_t c = oldest; c <= newest; ++c)
          if (slot - c < stages_) among_.receive(b_, own_, slot - c, share(c, own_.number));
      if (slot >= stages_) gather_in_node(slot - stages_);
    }
    close();
    return b_.take();
  }

 private:
  bool leads() const { return own_.number < map_.lanes; }
  std::int32_t leader(std::int32_t j) const { return map_.leader(own_.node, j); }

  std::int32_t places() const { return ring_ + (chunks_ - whole_); }
  std::uint64_t place(std::int32_t chunk) const {
    return static_cast<std::uint64_t>(chunk < whole_ ? chunk % ring_ : ring_);
  }
  bool again(std::int32_t chunk) const { return chunk >= ring_ && chunk < whole_; }

  /// A lane's share of a chunk, where the chunk begins at `at`.
  piece cut(std::uint64_t at, std::int32_t chunk, std::int32_t lane_number) const {
    const std::uint64_t begin = static_cast<std::uint64_t>(chunk) * chunk_;
    return share_of({at, std::min(chunk_, p_.count - begin)}, lane_number, map_.lanes, p_.granule);
  }
  piece in_vector(std::int32_t chunk, std::int32_t lane_number) const {
    return cut(static_cast<std::uint64_t>(chunk) * chunk_, chunk, lane_number);
  }
  portion share(std::int32_t chunk, std::int32_t lane_number) const {
    return {cut(place(chunk) * chunk_, chunk, lane_number),
            static_cast<std::uint64_t>(places()) * chunk_ + place(chunk) * room_, p_.granule};
  }
  piece published(std::int32_t chunk, std::int32_t lane_number) const {
    const std::uint64_t first = static_cast<std::uint64_t>(places()) * (chunk_ + room_);
    return cut(first + place(chunk) * chunk_, chunk, lane_number);
  }

  void reduce_in_node(std::int32_t chunk) {
    // Mapped inputs are there from the first signal on.
    const bool opens = !p_.mapped || chunk == 0 || again(chunk);
    for (std::int32_t j = 0; j < map_.lanes; ++j)
      if (j != own_.number) b_.publish(in_vector(chunk, j), published(chunk, j));
    for (std::int32_t j = 0; opens && j < map_.lanes; ++j) b_.signal(leader(j));
    if (!leads()) return;
    if (opens) b_.wait(members_);
    const piece at = in_vector(chunk, own_.number);
    b_.reduce(b_.scratch(share(chunk, own_.number).at),
              b_.contributions(members_, at, published(chunk, own_.number)));
  }

  void gather_in_node(std::int32_t chunk) {
    if (leads()) b_.signal(members_);
    for (std::int32_t i = 0; i < map_.lanes; ++i) {
      const std::int32_t j = (own_.number + i) % map_.lanes;
      b_.wait(leader(j));
      b_.copy(b_.output(in_vector(chunk, j)), b_.scratch_of(leader(j), share(chunk, j).at));
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
  std::int32_t whole_;  // chunks of full length
  std::int32_t stages_;
  std::int32_t ring_;   // places for them
  std::uint64_t room_;  // for messages, of each place
  builder b_;
};

}  // namespace

schedule make_two_level(const problem& p, std::int32_t rank, const second_level& among) {
  return frame(p, rank, among)();
}

}  // namespace telpher::coll
