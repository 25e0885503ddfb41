// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its blocks into every rank's output, where those are mapped and their layout is
// known; else every rank reads its block from every rank. Serves alltoallv as well. In place the
// blocks are published, since a rank writes where others still read.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

namespace {

schedule into_outputs(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  b.copy_own_block();
  for (const std::int32_t peer : b.others())
    b.copy(b.output_of(peer, b.output_block(peer, rank)), b.input(b.input_block(rank, peer)));
  b.meet();
  return b.take();
}

}  // namespace

schedule alltoall_one_shot(const problem& p, std::int32_t rank) {
  if (p.mapped && !p.in_place && !is_v_form(p.what)) return into_outputs(p, rank);
  const std::uint64_t stride = aligned(p, largest_block(p));
  builder b(p, rank, stride * static_cast<std::uint64_t>(p.ranks), p.mapped && !p.in_place);
  const auto slot = [&](std::int32_t from, std::int32_t to) {
    return slot_at(to, stride, block_count(p, from, to));
  };
  for (std::int32_t to = 0; to < p.ranks; ++to)
    if (to != rank) b.publish(b.input_block(rank, to), slot(rank, to));
  b.offer_inputs();
  b.copy_own_block();
  for (const std::int32_t peer : b.others()) {
    b.await_input(peer);
    b.copy(b.output(b.output_block(rank, peer)),
           b.contribution(peer, b.input_block(peer, rank), slot(peer, rank)));
  }
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
