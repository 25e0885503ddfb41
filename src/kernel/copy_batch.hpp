// SPDX-License-Identifier: BSD-3-Clause
// copy_batch: many contiguous pieces in one launch (parameters in kernel.hpp).
//
// Synchronisation. arrivals[i] is written by the blocks of piece i only and is 0 before and after
// the launch: each block adds one when its share is written; the block that finds all others there
// puts it back to 0 and, after a fence of system scope, stores done_value to done[i], which the
// host reads with acquire. A piece of one block does without the counter. The fence of publish()
// comes before the addition, so the last block's store follows every block's bytes.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

/// The piece that block belongs to: the last one whose first block is not behind it.
TELPHER_DEVICE unsigned piece_of(const copy_batch& p, unsigned block) {
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
  if (p.done == nullptr) return;  // the launch itself is waited for
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

/// Host side: deals at most `most` blocks to the pieces set in `p` (count and bytes), in proportion
/// to bytes, at least one each and at most one per `bytes_per_block`. Gives the number of blocks.
inline int deal_blocks(copy_batch& p, int most, std::uint64_t bytes_per_block) {
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
