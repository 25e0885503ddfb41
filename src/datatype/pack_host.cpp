// SPDX-License-Identifier: BSD-3-Clause
// Gathering and scattering on host memory. Any range of the packed bytes may be asked for, so a
// message that moves in chunks is packed chunk by chunk.
#include <algorithm>
#include <cstring>

#include "datatype/datatype.hpp"

namespace telpher::datatype {
namespace {

// Fixed sizes let the compiler emit one load and one store for the blocks that types mostly have.
inline void copy_block(char* to, const char* from, std::uint64_t bytes) noexcept {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 8);
      return;
    case 16:
      std::memcpy(to, from, 16);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

/// Calls move(offset from the buffer address, offset from `first`, bytes) for each piece of the
/// range.
template <class Move>
void for_range(const layout& l, std::uint64_t first, std::uint64_t bytes, Move move) noexcept {
  if (l.contiguous) {
    move(l.blocks.front().offset + static_cast<std::int64_t>(first), 0, bytes);
    return;
  }
  if (bytes == 0 || l.size == 0) return;
  const auto last_start =
      std::upper_bound(l.packed_offsets.begin(), l.packed_offsets.end(), first % l.size) - 1;
  auto b = static_cast<std::size_t>(last_start - l.packed_offsets.begin());
  std::uint64_t skip = first % l.size - *last_start;
  std::int64_t element = static_cast<std::int64_t>(first / l.size) * l.extent;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t now = std::min(l.blocks[b].bytes - skip, bytes - done);
    move(element + l.blocks[b].offset + static_cast<std::int64_t>(skip), done, now);
    done += now;
    skip = 0;
    if (++b < l.blocks.size()) continue;
    b = 0;
    element += l.extent;
  }
}

// The base of a type with absolute addresses may be any number.
template <class Byte>
Byte* displaced(Byte* base, std::int64_t offset) noexcept {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(offset));
}

}  // namespace

void pack_host(const layout& l, const void* base, std::uint64_t first, std::uint64_t bytes,
               void* packed) noexcept {
  for_range(l, first, bytes, [&](std::int64_t offset, std::uint64_t at, std::uint64_t n) {
    copy_block(static_cast<char*>(packed) + at, displaced(static_cast<const char*>(base), offset),
               n);
  });
}

void unpack_host(const layout& l, const void* packed, std::uint64_t first, std::uint64_t bytes,
                 void* base) noexcept {
  for_range(l, first, bytes, [&](std::int64_t offset, std::uint64_t at, std::uint64_t n) {
    copy_block(displaced(static_cast<char*>(base), offset), static_cast<const char*>(packed) + at,
               n);
  });
}

}  // namespace telpher::datatype
