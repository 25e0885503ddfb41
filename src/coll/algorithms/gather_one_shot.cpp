// SPDX-License-Identifier: BSD-3-Clause
// Every rank writes its block into the root's output, where that is mapped and its layout is known;
// else the root reads every rank's block. Serves gatherv as well.
#include "coll/schedule/builder.hpp"

namespace telpher::coll {

namespace {

schedule into_output(const problem& p, std::int32_t rank) {
  builder b(p, rank, 0);
  b.copy(b.output_of(p.root, b.output_block(p.root, rank)), b.input(b.input_block(rank, rank)));
  if (b.is_root())
    b.wait_others();
  else
    b.signal(p.root);
  return b.take();
}

}  // namespace

schedule gather_one_shot(const problem& p, std::int32_t rank) {
  if (p.mapped && !is_v_form(p.what)) return into_output(p, rank);
  builder b(p, rank, aligned(p, largest_block(p)));
  const auto slot = [&](std::int32_t r) { return piece{0, block_count(p, r, r)}; };
  if (!b.is_root()) {
    b.publish(b.input_block(rank, rank), slot(rank));
    b.offer_input(p.root);
    b.wait(p.root);
    return b.take();
  }
  b.copy_own_block();
  for (const std::int32_t peer : b.others()) {
    b.await_input(peer);
    b.copy(b.output(b.output_block(rank, peer)),
           b.contribution(peer, b.input_block(peer, peer), slot(peer)));
    b.signal(peer);
  }
  return b.take();
}

}  // namespace telpher::coll
