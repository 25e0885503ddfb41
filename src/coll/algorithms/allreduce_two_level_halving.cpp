// SPDX-License-Identifier: BSD-3-Clause
// Two levels; recursive halving, then doubling, among the leaders of a rail: 2 log2 N stages and
// the bytes of a ring. Neighbours first, so that node order is kept.
#include "coll/algorithms/allreduce_two_level.hpp"

namespace telpher::coll {
namespace {

std::int32_t stages(std::int32_t nodes) {
  return 2 * doublings(nodes);
}

/// The half that the node keeps at that level, or the one that its partner keeps.
piece half_at(const rail& own, std::int32_t level, bool partners, const portion& x) {
  piece at = x.at;
  for (std::int32_t i = 0; i <= level; ++i) {
    const bool flip = partners && i == level;
    at = share_of(at, ((own.node >> i) & 1) ^ (flip ? 1 : 0), 2, x.granule);
  }
  return at;
}

struct turn {
  std::int32_t level;
  bool gathers;
  std::int32_t peer;
};

turn turn_of(const rail& own, std::int32_t stage) {
  const std::int32_t n = doublings(own.nodes());
  const bool gathers = stage >= n;
  const std::int32_t level = gathers ? 2 * n - 1 - stage : stage;
  return {level, gathers, own.node ^ (1 << level)};
}

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const turn now = turn_of(own, stage);
  b.send(own.at(now.peer), b.scratch(half_at(own, now.level, !now.gathers, x)));
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const turn now = turn_of(own, stage);
  const piece half = half_at(own, now.level, now.gathers, x);
  if (now.gathers) return b.receive(own.at(now.peer), b.scratch(half));
  receive_and_add(b, own, now.peer, half, x);
}

constexpr second_level among_leaders = {stages, room_for_one, send, receive};

}  // namespace

schedule allreduce_two_level_halving(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
