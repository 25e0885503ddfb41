// SPDX-License-Identifier: BSD-3-Clause
// Operations made of blocks, a piece of every block after the other, so that scratch space need not
// grow with the blocks: the schedule of one piece for each of them. Slots of time begin a piece
// each; the stages of a piece (builder::next_stage) come some slots after one another, so that
// messages of the pieces between travel while one is worked on.
#pragma once

#include "coll/schedule/builder.hpp"

namespace telpher::coll {

/// Elements from one slot to the next: the piece, where blocks go in pieces.
std::uint64_t slot_stride(const problem& p);

/// `make` for blocks of at most `p.chunk` elements. It takes its slots from slot_stride, and each
/// is a block or empty.
schedule in_pieces(const problem& p, std::int32_t rank,
                   schedule (*make)(const problem& p, std::int32_t rank));

}  // namespace telpher::coll
