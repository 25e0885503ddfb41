// SPDX-License-Identifier: BSD-3-Clause
// Two levels; recursive doubling among the leaders of a rail: log2 N stages with the whole share.
// The fewest stages, for small vectors. Neighbours first, so that node order is kept.
#include "coll/algorithms/allreduce_two_level.hpp"
#include "coll/algorithms/catalogue.hpp"

namespace telpher::coll {
namespace {

std::int32_t stages(std::int32_t nodes) {
  std::int32_t n = 0;
  while ((1 << n) < nodes) ++n;
  return n;
}

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  b.send(own.at(own.node ^ (1 << stage)), b.scratch(x.at));
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  const std::int32_t peer = own.node ^ (1 << stage);
  const span mine = b.scratch(x.at);
  const span landing = b.scratch(x.landing(x.at));
  b.receive(own.at(peer), landing);
  if (own.node < peer)
    b.reduce(mine, {mine, landing});
  else
    b.reduce(mine, {landing, mine});
}

constexpr second_level among_leaders = {stages, room_for_one, send, receive};

}  // namespace

schedule allreduce_two_level_doubling(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
