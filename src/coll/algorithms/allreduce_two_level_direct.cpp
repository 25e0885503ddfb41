// SPDX-License-Identifier: BSD-3-Clause
// Two levels; every leader of a rail sends each other one its part, reduces its own part in node
// order and sends the sum to all. Two stages and the bytes of a ring, in many small messages.
#include "coll/algorithms/allreduce_two_level.hpp"

namespace telpher::coll {
namespace {

std::int32_t stages(std::int32_t nodes) {
  return nodes > 1 ? 2 : 0;
}

std::uint64_t slot_of(std::int32_t nodes, std::uint64_t whole, std::uint64_t granule) {
  return (share_of({0, whole}, 0, nodes, granule).count + granule - 1) / granule * granule;
}

std::uint64_t room(std::int32_t nodes, std::uint64_t largest, std::uint64_t granule) {
  return slot_of(nodes, largest, granule) * static_cast<std::uint64_t>(nodes);
}

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  for (std::int32_t i = 1; i < own.nodes(); ++i) {
    const std::int32_t to = (own.node + i) % own.nodes();
    b.send(own.at(to), b.scratch(x.part(stage == 0 ? to : own.node, own.nodes())));
  }
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const piece mine = x.part(own.node, own.nodes());
  const std::uint64_t stride = slot_of(own.nodes(), x.at.count, x.granule);
  std::vector<span> sources(static_cast<std::size_t>(own.nodes()), b.scratch(mine));
  for (std::int32_t i = 1; i < own.nodes(); ++i) {
    const std::int32_t from = (own.node - i + own.nodes()) % own.nodes();
    const piece slot = slot_at(from, stride, mine.count);
    const span landing = b.scratch(stage == 0 ? piece{x.incoming + slot.offset, slot.count}
                                              : x.part(from, own.nodes()));
    b.receive(own.at(from), landing);
    sources[static_cast<std::size_t>(from)] = landing;
  }
  if (stage == 0) b.reduce(b.scratch(mine), std::move(sources));
}

constexpr second_level among_leaders = {stages, room, send, receive};

}  // namespace

schedule allreduce_two_level_direct(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
