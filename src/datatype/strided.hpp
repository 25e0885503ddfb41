// SPDX-License-Identifier: BSD-3-Clause
// Bytes that lie in a grid of aligned blocks, described without the type that they come from: so a
// sender tells a receiver where to take a message that was not packed.
#pragma once

#include <cstdint>

#include "kernel/packing.hpp"

namespace telpher::datatype {

struct strided {
  std::uint64_t block_bytes = 0;
  std::uint32_t counts[3] = {};  // of blocks in an element, the fastest dimension first
  std::uint32_t unit = 0;        // 4, 8 or 16, which divides all that is named here; 0: none does,
                                 // or there are too many
  std::int64_t strides[3] = {};
  std::int64_t extent = 0;  // from one element to the next

  /// Whether a kernel may take `bytes` bytes whose first block lies at `address`: the numbers make
  /// sense, and no block lies outside [base, base + size).
  bool within(std::uint64_t address, std::uint64_t bytes, std::uint64_t base,
              std::uint64_t size) const noexcept;
};

/// The largest unit of 4, 8 or 16 bytes that divides all numbers whose bits are set in `bits`; else
/// 0.
std::uint32_t common_unit(std::uint64_t bits) noexcept;

/// Of a block, as a kernel takes it that moves by `unit`.
kernel::divisor units_of(std::uint64_t block_bytes, std::uint32_t unit) noexcept;

/// As a kernel takes it that moves by `unit`, which divides s.unit; 0: by whole blocks.
kernel::block_grid block_grid_of(const strided& s, std::uint32_t unit) noexcept;

}  // namespace telpher::datatype
