// SPDX-License-Identifier: BSD-3-Clause
// Cuts the blocks of an operation into pieces, so that scratch space need not grow with the blocks.
// Piece i is the i-th part of every block, and has a schedule of its own; these are woven into one.
// Its slots of time begin one piece each. The stages of a piece (builder::next_stage) follow each
// other one or two slots apart, so that messages of other pieces travel while one is worked on.
#pragma once

#include "coll/schedule/builder.hpp"

namespace telpher::coll {

/// Elements from one slot of scratch to the next: a piece if blocks are cut, else the largest
/// block.
std::uint64_t slot_stride(const problem& p);

/// The schedule for `p`, by calls of `make` for blocks of at most `p.chunk` elements. `make` must
/// lay its scratch out in slots of slot_stride, of which each holds one block or nothing.
schedule in_pieces(const problem& p, std::int32_t rank,
                   schedule (*make)(const problem& p, std::int32_t rank));

}  // namespace telpher::coll
