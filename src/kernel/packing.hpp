// SPDX-License-Identifier: BSD-3-Clause
// Parameters of the kernels that copy between layouts of blocks and contiguous bytes, or turn the
// order of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/divisor.hpp"

namespace telpher::kernel {

/// Where the blocks of a grid lie: blocks of one length at regular distances, in up to three
/// dimensions. Block b of an element counts through the dimensions, the fastest first.
struct block_grid {
  divisor counts[3];
  std::int64_t strides[3];
  std::int64_t extent;     // from one element to the next
  divisor units_of_block;  // where a kernel moves by units
};

/// pack and unpack: gather blocks of a layout into contiguous bytes, or scatter them back; of the
/// packed bytes those from `first` on. A row is one block of one element, counted in packed order.
/// Element e, block b: layout address = base + e * extent + where block b lies in an element.
/// Packed address = packed - first + e * size + where it lies in the packed bytes of one.
struct pack_blocks {
  /// Blocks of any length anywhere: memory that the device can read, `blocks` entries each.
  struct table {
    const std::int64_t* offset;
    const std::uint64_t* length;
    const std::uint64_t* packed_offset;
    std::int64_t extent;
    std::uint64_t first_row, rows;  // which the bytes touch; of a grid they follow from its numbers
  };

  std::uint8_t* packed;
  std::uint8_t* base;  // of a grid: where the first block lies
  std::uint64_t first;
  std::uint64_t bytes;
  std::uint64_t size;  // of one element, packed
  std::uint64_t blocks;
  std::uint32_t is_grid;
  std::uint32_t unit;  // 4, 8 or 16 bytes, if the blocks of a grid and the bytes to be moved
                       // consist of such units, aligned in the layout and packed, and there are
                       // fewer than divisor::limit; else 0
  union {
    table listed;
    block_grid regular;  // of blocks of size / blocks bytes
  };
  std::uint32_t
      from_grid;     // 1, with a unit: the packed bytes lie in a grid, too, whose first block
  block_grid other;  // is at `packed`. They are copied from one layout to the other
};

/// unpack_all: several of them, with `share` blocks each.
struct unpack_all {
  static constexpr std::size_t capacity = 20;
  pack_blocks each[capacity];
  std::uint32_t share;
};

/// swap_bytes: copies contiguous bytes and turns the order of the bytes of each unit. `to` is
/// `from`, or the two do not overlap.
struct swap_bytes {
  std::uint8_t* to;
  const std::uint8_t* from;
  std::uint64_t bytes;
  std::uint32_t unit;  // 2, 4 or 8 bytes; `bytes` is a multiple
};

}  // namespace telpher::kernel
