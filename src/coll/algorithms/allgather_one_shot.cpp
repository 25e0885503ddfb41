// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its block into every rank's output, where those are mapped and their layout is
// known; else every rank reads every rank's block. Serves allgatherv as well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

namespace {

schedule into_outputs(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  b.copy_own_block();
  for (const std::int32_t peer : b.others())
    b.copy(b.output_of(peer, b.output_block(peer, rank)), b.input(b.input_block(rank, rank)));
  b.meet();
  return b.take();
}

}  // namespace

schedule allgather_one_shot(const problem& p, std::int32_t rank) {
  if (p.mapped && !is_v_form(p.what)) return into_outputs(p, rank);
  builder b(p, rank, aligned(p, largest_block(p)));
  const auto slot = [&](std::int32_t r) { return piece{0, block_count(p, r, r)}; };
  b.publish(b.input_block(rank, rank), slot(rank));
  b.offer_inputs();
  b.copy_own_block();
  for (const std::int32_t peer : b.others()) {
    b.await_input(peer);
    b.copy(b.output(b.output_block(rank, peer)),
           b.contribution(peer, b.input_block(peer, peer), slot(peer)));
  }
  b.meet();
  return b.take();
}

}  // namespace telpher::coll
