// SPDX-License-Identifier: BSD-3-Clause
// Two levels; a ring among the leaders of a rail: N - 1 stages of reduce-scatter, N - 1 of
// allgather. The least bytes between nodes and the most stages.
#include "coll/algorithms/allreduce_two_level.hpp"

namespace telpher::coll {
namespace {

std::int32_t stages(std::int32_t nodes) {
  return 2 * (nodes - 1);
}

/// The part of the portion that passes `distance` nodes before this one in that stage.
piece part_of(const rail& own, std::int32_t stage, std::int32_t distance, const portion& x) {
  const std::int32_t nodes = own.nodes();
  const bool gathers = stage >= nodes - 1;
  const std::int32_t shift = gathers ? stage - (nodes - 1) - 1 : stage;
  return x.part((own.node - shift - distance + 2 * nodes) % nodes, nodes);
}

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  b.send(own.after(1), b.scratch(part_of(own, stage, 0, x)));
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const piece part = part_of(own, stage, 1, x);
  const bool gathers = stage >= own.nodes() - 1;
  const span landing = b.scratch(gathers ? part : x.landing(part));
  b.receive(own.after(-1), landing);
  if (!gathers) b.reduce(b.scratch(part), {landing, b.scratch(part)});
}

constexpr second_level among_leaders = {stages, room_for_one, send, receive};

}  // namespace

schedule allreduce_two_level_ring(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
