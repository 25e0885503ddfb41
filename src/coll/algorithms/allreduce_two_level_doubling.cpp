// SPDX-License-Identifier: BSD-3-Clause
// Two levels; recursive doubling among the leaders of a rail: log2 N stages with the whole share.
// The fewest stages, for small vectors. Neighbours first, so that node order is kept.
#include "coll/algorithms/allreduce_two_level.hpp"

namespace telpher::coll {
namespace {

void send(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  b.send(own.at(own.node ^ (1 << stage)), b.scratch(x.at));
}

void receive(builder& b, const rail& own, std::int32_t stage, const portion& x) {
  receive_and_add(b, own, own.node ^ (1 << stage), x.at, x);
}

constexpr second_level among_leaders = {doublings, room_for_one, send, receive};

}  // namespace

schedule allreduce_two_level_doubling(const problem& p, std::int32_t rank) {
  return make_two_level(p, rank, among_leaders);
}

}  // namespace telpher::coll
