// SPDX-License-Identifier: BSD-3-Clause
// The frame: chunks, phases in the node, slots of time.
//
// A place of the ring is free when its chunk was gathered: leaders have then read what was
// published there, because they signalled after it; members have read the sum when they signal for
// the place's next chunk.
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
        own_(map_, rank),
        members_(own_.members()),
        stages_(among.stages(map_.nodes())),
        lag_(stages_ <= most_with_lag ? 2 : 1),
        ring_(p, lag_ * stages_ + 1),
        room_(aligned(
            p, among.room(map_.nodes(), share_of({0, ring_.length}, 0, map_.rails, p.granule).count,
                          p.granule))),
        b_(p, rank, 2 * ring_.room() + static_cast<std::uint64_t>(ring_.places()) * room_) {}

  schedule operator()() {
    if (ring_.chunks == 0) return b_.take();
    const std::int32_t slots = lag_ * stages_;  // of a chunk, before it is gathered
    for (std::int32_t slot = 0; slot < ring_.chunks + slots; ++slot) {
      if (slot < ring_.chunks) reduce_in_node(slot);
      if (leads()) each_under_way(slot, among_.send);
      if (leads()) each_under_way(slot - lag_ + 1, among_.receive);
      if (slot >= slots) gather_in_node(slot - slots);
    }
    close();
    return b_.take();
  }

 private:
  /// With few stages too few messages would travel while a leader works on others.
  static constexpr std::int32_t most_with_lag = 2;

  /// Does that for the chunks that begin a stage in this slot.
  template <class Verb>
  void each_under_way(std::int32_t slot, const Verb& verb) {
    for (std::int32_t stage = stages_ - 1; stage >= 0; --stage)
      if (const std::int32_t c = slot - lag_ * stage; c >= 0 && c < ring_.chunks)
        verb(b_, own_, stage, share(c, own_.number));
  }
  bool leads() const { return own_.leads(); }
  std::int32_t leader(std::int32_t j) const { return own_.leader(j); }

  piece cut(piece whole, std::int32_t rail_number) const {
    return share_of(whole, rail_number, map_.rails, p_.granule);
  }
  piece in_vector(std::int32_t chunk, std::int32_t rail_number) const {
    return cut(ring_.in_vector(chunk), rail_number);
  }
  portion share(std::int32_t chunk, std::int32_t rail_number) const {
    return {cut(ring_.in_place(0, chunk), rail_number),
            2 * ring_.room() + ring_.place(chunk) * room_, p_.granule};
  }
  piece published(std::int32_t chunk, std::int32_t rail_number) const {
    return cut(ring_.in_place(ring_.room(), chunk), rail_number);
  }

  void reduce_in_node(std::int32_t chunk) {
    // Mapped inputs are there from the first signal on.
    const bool opens = !p_.mapped || chunk == 0 || ring_.again(chunk);
    for (std::int32_t j = 0; j < map_.rails; ++j)
      if (j != own_.number) b_.publish(in_vector(chunk, j), published(chunk, j));
    if (opens) b_.signal(own_.leaders());
    if (!leads()) return;
    if (opens) b_.wait(members_);
    const piece at = in_vector(chunk, own_.number);
    b_.reduce(b_.scratch(share(chunk, own_.number).at),
              b_.contributions(members_, at, published(chunk, own_.number)));
  }

  void gather_in_node(std::int32_t chunk) {
    if (leads()) b_.signal(members_);
    for (std::int32_t i = 0; i < map_.rails; ++i) {
      const std::int32_t j = (own_.number + i) % map_.rails;
      b_.wait(leader(j));
      b_.copy(b_.output(in_vector(chunk, j)), b_.scratch_of(leader(j), share(chunk, j).at));
    }
  }

  void close() {
    b_.signal(own_.leaders());
    if (leads()) b_.wait(members_);
  }

  const problem& p_;
  const node_map& map_;
  const second_level& among_;
  rail own_;
  const std::vector<std::int32_t>& members_;
  std::int32_t stages_;
  std::int32_t lag_;  // slots from a stage to the next
  chunk_ring ring_;
  std::uint64_t room_;  // for messages, of each place
  builder b_;
};

}  // namespace

schedule make_two_level(const problem& p, std::int32_t rank, const second_level& among) {
  return frame(p, rank, among)();
}

}  // namespace telpher::coll
