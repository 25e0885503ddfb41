// SPDX-License-Identifier: BSD-3-Clause
// copy_batch: many contiguous pieces in one launch (parameters in kernel.hpp).
//
// Synchronisation. arrivals[i] is written only by the blocks of piece i; it is 0 before and after
// the launch. Each block adds one when it has written its share. The block that finds all others
// counted resets the counter to 0 and, after a fence of system scope, stores done_value to done[i],
// which the host reads with acquire. A piece of one block does not use the counter. The fence of
// publish() comes before the addition, so the last block's store follows every block's bytes.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

/// The piece of a block: the last one whose first block is not after it. P: copy_batch, or another
/// launch of `count` pieces with `first_block`.
template <class P>
TELPHER_DEVICE unsigned piece_of(const P& p, unsigned block) {
  unsigned low = 0;
  unsigned high = p.count;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    if (p.first_block[middle] <= block)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <class W>
TELPHER_DEVICE void copy_batch_body(W w, const copy_batch& p) {
  if (w.block() >= p.first_block[p.count]) return;
  const unsigned i = piece_of(p, w.block());
  const unsigned blocks = p.first_block[i + 1] - p.first_block[i];
  const std::uint64_t index = std::uint64_t{w.block() - p.first_block[i]} * w.size() + w.id();
  copy_span(index, std::uint64_t{blocks} * w.size(),
            resolve(static_cast<std::uint8_t*>(p.pieces[i].to)),
            resolve(static_cast<const std::uint8_t*>(p.pieces[i].from)), p.pieces[i].bytes);
  if (p.done == nullptr) return;  // the host waits for the launch itself
  w.publish();
  if (w.id() != 0) return;
  if (blocks > 1) {
    std::uint32_t* arrivals = resolve(p.arrivals) + i;
    if (fetch_add_device(arrivals, 1) != blocks - 1) return;
    *arrivals = 0;
    fence_system();
  }
  store_published(resolve(p.done) + i, p.done_value);
}

/// Host side: distributes at most `most` blocks among the pieces in `p` (count and bytes), in
/// proportion to their bytes: at least one block for each piece, at most one for each
/// `bytes_per_block`. Returns the number of blocks.
template <class P>
int deal_blocks(P& p, int most, std::uint64_t bytes_per_block) {
  std::uint64_t total = 0;
  for (int i = 0; i < p.count; ++i) total += p.pieces[i].bytes;
  const int spare = most > p.count ? most - p.count : 0;
  int next = 0;
  for (int i = 0; i < p.count; ++i) {
    p.first_block[i] = static_cast<std::uint16_t>(next);
    const std::uint64_t bytes = p.pieces[i].bytes;
    const auto fair =
        total == 0 ? 0.0 : static_cast<double>(bytes) / static_cast<double>(total) * spare;
    const std::uint64_t useful = bytes == 0 ? 0 : (bytes - 1) / bytes_per_block;
    const auto more = static_cast<std::uint64_t>(fair);
    next += 1 + static_cast<int>(more < useful ? more : useful);
  }
  p.first_block[p.count] = static_cast<std::uint16_t>(next);
  return next;
}

}  // namespace telpher::kernel
