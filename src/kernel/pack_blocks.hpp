// SPDX-License-Identifier: BSD-3-Clause
// pack_blocks and unpack_blocks: copy between a layout of blocks and contiguous bytes (parameters
// and addressing in kernel.hpp). A row is one block of one element. A group of work items, sized by
// the mean row length, copies one row at a time. Rows are independent, so there is no
// synchronisation.
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

template <bool pack, class W>
TELPHER_DEVICE void move_rows(W w, const pack_blocks& p) {
  if (p.blocks == 0 || p.elements == 0) return;
  const unsigned group = row_group(p, w.size());
  const unsigned groups = w.size() / group;
  if (w.id() >= groups * group) return;
  const std::int64_t* offset = resolve(p.offset);
  const std::uint64_t* length = resolve(p.length);
  const std::uint64_t* packed_offset = resolve(p.packed_offset);
  const std::uint64_t rows = p.elements * p.blocks;
  const std::uint64_t step = std::uint64_t{w.blocks()} * groups;
  for (std::uint64_t row = std::uint64_t{w.block()} * groups + w.id() / group; row < rows;
       row += step) {
    const std::uint64_t element = row / p.blocks;
    const std::uint64_t b = row % p.blocks;
    // A negative extent or offset wraps in unsigned arithmetic; the result is right.
    std::uint8_t* layout = reinterpret_cast<std::uint8_t*>(
        reinterpret_cast<std::uintptr_t>(p.base) + element * static_cast<std::uint64_t>(p.extent) +
        static_cast<std::uint64_t>(offset[b]));
    std::uint8_t* packed = p.packed + element * p.size + packed_offset[b];
    std::uint8_t* to = resolve(pack ? packed : layout);
    const std::uint8_t* from = resolve(pack ? layout : packed);
    copy_span(w.id() % group, group, to, from, length[b]);
  }
}

template <class W>
TELPHER_DEVICE void pack_blocks_body(W w, const pack_blocks& p) {
  move_rows<true>(w, p);
}

template <class W>
TELPHER_DEVICE void unpack_blocks_body(W w, const unpack_blocks& p) {
  move_rows<false>(w, p);
}

}  // namespace telpher::kernel
