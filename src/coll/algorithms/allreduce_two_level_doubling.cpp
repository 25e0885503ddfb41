// SPDX-License-Identifier: BSD-3-Clause
// Two levels; recursive doubling among the leaders of a rail: log2 N stages with the whole share.
// The fewest stages, for small vectors. Neighbours first, so that node order is kept.
#include "coll/algorithms/allreduce_two_level.hpp"

#include <bit>

namespace telpher::coll {
namespace {

/// Their number is a power of two.
std::int32_t stages(std::int32_t nodes) {
  return std::countr_zero(static_cast<std::uint32_t>(nodes));
}

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  b.send(own.at(own.node ^ (1 << stage)), b.scratch(x.at));
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const std::int32_t peer = own.node ^ (1 << stage);
  const span mine = b.scratch(x.at), landing = b.scratch(x.landing(x.at));
  b.receive(own.at(peer), landing);
  b.reduce(mine, own.node < peer ? std::vector{mine, landing} : std::vector{landing, mine});
}

constexpr second_level among_leaders = {stages, room_for_one, send, receive};

}  // namespace

schedule allreduce_two_level_doubling(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
