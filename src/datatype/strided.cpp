// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/strided.hpp"

#include <algorithm>

namespace telpher::datatype {
namespace {

// Numbers of another process may be anything; their sums fit in 128 bits.
__extension__ using wide = __int128;

}  // namespace

std::uint32_t common_unit(std::uint64_t bits) noexcept {
  const std::uint64_t lowest = bits == 0 ? 16 : std::min<std::uint64_t>(bits & (~bits + 1), 16);
  return lowest >= 4 ? static_cast<std::uint32_t>(lowest) : 0;
}

bool strided::within(std::uint64_t address, std::uint64_t bytes, std::uint64_t base,
                     std::uint64_t size) const noexcept {
  constexpr std::uint64_t limit = kernel::divisor::limit;
  std::uint64_t bits = address | block_bytes | static_cast<std::uint64_t>(extent);
  for (const std::int64_t stride : strides) bits |= static_cast<std::uint64_t>(stride);
  if ((unit != 4 && unit != 8 && unit != 16) || bits % unit != 0 || block_bytes == 0 ||
      block_bytes / unit >= limit || bytes / unit >= limit)
    return false;
  wide blocks = 1, low = 0, high = static_cast<wide>(block_bytes);
  const auto reach = [&](wide steps, std::int64_t stride) {
    (stride < 0 ? low : high) += steps * stride;
  };
  for (int d = 0; d < 3; ++d) {
    if (counts[d] == 0 || counts[d] >= limit) return false;
    blocks *= counts[d];
    if (blocks > static_cast<wide>(bytes)) return false;
    reach(counts[d] - 1, strides[d]);
  }
  const wide element = blocks * static_cast<wide>(block_bytes);
  if (bytes == 0 || bytes % element != 0) return false;
  reach(bytes / element - 1, extent);
  const wide at = static_cast<wide>(address);
  return at + low >= static_cast<wide>(base) &&
         at + high <= static_cast<wide>(base) + static_cast<wide>(size);
}

kernel::divisor units_of(std::uint64_t block_bytes, std::uint32_t unit) noexcept {
  return kernel::divisor::of(static_cast<std::uint32_t>(block_bytes / unit));
}

kernel::block_grid block_grid_of(const strided& s, std::uint32_t unit) noexcept {
  kernel::block_grid g{};
  for (int d = 0; d < 3; ++d) {
    g.counts[d] = kernel::divisor::of(s.counts[d]);
    g.strides[d] = s.strides[d];
  }
  g.extent = s.extent;
  if (unit != 0) g.units_of_block = units_of(s.block_bytes, unit);
  return g;
}

}  // namespace telpher::datatype
