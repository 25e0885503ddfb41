// SPDX-License-Identifier: BSD-3-Clause
// pack_blocks, unpack_blocks and unpack_all: copy between a layout of blocks and contiguous bytes
// (parameters and addressing in kernel.hpp). A row is one block of one element. A group of work
// items, sized by the mean row length, copies one row at a time. Rows are independent, so there is
// no synchronisation.
#pragma once

#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

/// Number of work items that share a row: a power of two, one for each 16 bytes of the mean row.
TELPHER_DEVICE unsigned row_group(const pack_blocks& p, unsigned size) {
  const std::uint64_t mean = p.size / p.blocks;
  unsigned group = 1;
  while (group * 2 <= size && std::uint64_t{group} * 16 < mean) group *= 2;
  return group;
}

struct quotient {
  std::uint64_t whole;
  std::uint64_t rest;
};

/// GPUs divide 32 bits some ten times faster than 64.
TELPHER_DEVICE quotient divide(std::uint64_t n, std::uint64_t by) {
  if ((n | by) >> 32 == 0) {
    const auto n32 = static_cast<std::uint32_t>(n), by32 = static_cast<std::uint32_t>(by);
    return {n32 / by32, n32 % by32};
  }
  return {n / by, n % by};
}

/// Where block `b` of an element lies, from the element's address on.
TELPHER_DEVICE std::uint64_t grid_offset(const pack_blocks& p, std::uint64_t b) {
  const quotient row = divide(b, p.counts[0]);
  const quotient plane = divide(row.whole, p.counts[1]);
  return row.rest * static_cast<std::uint64_t>(p.strides[0]) +
         plane.rest * static_cast<std::uint64_t>(p.strides[1]) +
         plane.whole * static_cast<std::uint64_t>(p.strides[2]);
}

/// The share of block `block` of `blocks`.
template <bool pack, class W>
TELPHER_DEVICE void move_rows(W w, const pack_blocks& p, unsigned block, unsigned blocks) {
  if (p.blocks == 0 || p.elements == 0) return;
  const unsigned group = row_group(p, w.size());
  const unsigned groups = w.size() / group;
  if (w.id() >= groups * group) return;
  const std::int64_t* offset = resolve(p.offset);
  const std::uint64_t* length = resolve(p.length);
  const std::uint64_t* packed_offset = resolve(p.packed_offset);
  const std::uint64_t same_length = p.size / p.blocks;  // of a grid
  const std::uint64_t rows = p.elements * p.blocks;
  const std::uint64_t step = std::uint64_t{blocks} * groups;
  for (std::uint64_t row = std::uint64_t{block} * groups + w.id() / group; row < rows;
       row += step) {
    const auto [element, b] = divide(row, p.blocks);
    // A negative extent or offset wraps in unsigned arithmetic and comes out right.
    const std::uint64_t away = p.offset ? static_cast<std::uint64_t>(offset[b]) : grid_offset(p, b);
    std::uint8_t* layout =
        reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(p.base) +
                                        element * static_cast<std::uint64_t>(p.extent) + away);
    std::uint8_t* packed =
        p.packed + element * p.size + (p.offset ? packed_offset[b] : b * same_length);
    std::uint8_t* to = resolve(pack ? packed : layout);
    const std::uint8_t* from = resolve(pack ? layout : packed);
    copy_span(w.id() % group, group, to, from, p.offset ? length[b] : same_length);
  }
}

template <class W>
TELPHER_DEVICE void pack_blocks_body(W w, const pack_blocks& p) {
  move_rows<true>(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void unpack_blocks_body(W w, const unpack_blocks& p) {
  move_rows<false>(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void unpack_all_body(W w, const unpack_all& p) {
  move_rows<false>(w, p.each[w.block() / p.share], w.block() % p.share, p.share);
}

}  // namespace telpher::kernel
