// SPDX-License-Identifier: BSD-3-Clause
// pack_blocks, unpack_blocks and unpack_all: copy between a layout of blocks and contiguous bytes
// (parameters and addressing in packing.hpp). Most types are grids of aligned blocks. Those are
// moved by units: neighbouring work items take neighbouring units of the packed bytes, whatever the
// length of a block. Else a group of work items, sized by the mean length, copies one block at a
// time, at any alignment. No work item depends on another, so there is no synchronisation.
//
// swap_bytes: for the canonical representation, in which the first byte of a value is the highest.
#pragma once

#include "kernel/divisor.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

/// The address `away` from a layout's base. A negative distance wraps in unsigned arithmetic and
/// comes out right.
TELPHER_DEVICE std::uint8_t* in_layout(std::uint8_t* base, std::uint64_t away) {
  return resolve(reinterpret_cast<std::uint8_t*>(reinterpret_cast<std::uintptr_t>(base) + away));
}

// --- by units ---

template <class V>
TELPHER_DEVICE std::uint8_t* place_of_unit(std::uint8_t* base, const block_grid& g,
                                           std::uint32_t unit) {
  const auto [block, within] = divide(unit, g.units_of_block);
  std::uint64_t away = std::uint64_t{within} * sizeof(V);
  std::uint32_t left = block;
  TELPHER_UNROLL
  for (int d = 0; d < 3; ++d) {
    const auto [whole, index] = divide(left, g.counts[d]);
    away += index * static_cast<std::uint64_t>(g.strides[d]);
    left = whole;
  }
  return in_layout(base, away + left * static_cast<std::uint64_t>(g.extent));
}

template <bool pack, class V, class W>
TELPHER_DEVICE void move_units(W w, const pack_blocks& p, unsigned block, unsigned blocks) {
  const auto units = static_cast<std::uint32_t>(p.bytes / sizeof(V));
  const auto first = static_cast<std::uint32_t>(p.first / sizeof(V));
  const std::uint32_t step = blocks * w.size();
  for (std::uint32_t unit = block * w.size() + w.id(); unit < units; unit += step) {
    std::uint8_t* here = place_of_unit<V>(p.base, p.regular, first + unit);
    std::uint8_t* there = p.from_grid ? place_of_unit<V>(p.packed, p.other, unit)
                                      : resolve(p.packed + std::uint64_t{unit} * sizeof(V));
    store<V>(pack ? there : here, load<V>(pack ? here : there));
  }
}

// --- by blocks of the layout ---

/// Number of work items that share a row, which is one block: a power of two, one for each 16 bytes
/// of the mean row.
TELPHER_DEVICE unsigned row_group(const pack_blocks& p, unsigned size) {
  const std::uint64_t mean = p.size / p.blocks;
  unsigned group = 1;
  while (group * 2 <= size && std::uint64_t{group} * 16 < mean) group *= 2;
  return group;
}

struct row {
  std::uint64_t offset;  // from the element on
  std::uint64_t packed_offset;
  std::uint64_t length;
};

TELPHER_DEVICE row row_of_grid(const pack_blocks& p, std::uint64_t b) {
  const block_grid& g = p.regular;
  const auto line = divide(b, std::uint64_t{g.counts[0].by});
  const auto plane = divide(line.whole, std::uint64_t{g.counts[1].by});
  const std::uint64_t length = p.size / p.blocks;
  return {line.rest * static_cast<std::uint64_t>(g.strides[0]) +
              plane.rest * static_cast<std::uint64_t>(g.strides[1]) +
              plane.whole * static_cast<std::uint64_t>(g.strides[2]),
          b * length, length};
}

TELPHER_DEVICE row row_of_table(const pack_blocks& p, std::uint64_t b) {
  return {static_cast<std::uint64_t>(resolve(p.listed.offset)[b]),
          resolve(p.listed.packed_offset)[b], resolve(p.listed.length)[b]};
}

struct row_range {
  std::uint64_t first, count;
};

TELPHER_DEVICE row_range rows_of(const pack_blocks& p) {
  if (!p.is_grid) return {p.listed.first_row, p.listed.rows};
  const std::uint64_t length = p.size / p.blocks;
  const std::uint64_t first = divide(p.first, length).whole;
  return {first, divide(p.first + p.bytes + length - 1, length).whole - first};
}

template <bool pack, class W>
TELPHER_DEVICE void move_rows(W w, const pack_blocks& p, unsigned block, unsigned blocks) {
  if (p.blocks == 0) return;
  const unsigned group = row_group(p, w.size());
  const unsigned groups = w.size() / group;
  if (w.id() >= groups * group) return;
  const row_range rows = rows_of(p);
  const std::uint64_t end = rows.first + rows.count;
  const std::uint64_t step = std::uint64_t{blocks} * groups;
  for (std::uint64_t i = rows.first + std::uint64_t{block} * groups + w.id() / group; i < end;
       i += step) {
    const auto [element, b] = divide(i, p.blocks);
    const row r = p.is_grid ? row_of_grid(p, b) : row_of_table(p, b);
    const std::int64_t extent = p.is_grid ? p.regular.extent : p.listed.extent;
    // Where the row begins, from `first` on; before it, if the row holds bytes that are not asked
    // for.
    const auto at = static_cast<std::int64_t>(element * p.size + r.packed_offset - p.first);
    const std::int64_t from = at < 0 ? 0 : at;
    const auto all = static_cast<std::int64_t>(p.bytes);
    std::int64_t to = at + static_cast<std::int64_t>(r.length);
    if (to > all) to = all;
    std::uint8_t* here = in_layout(p.base, element * static_cast<std::uint64_t>(extent) + r.offset +
                                               static_cast<std::uint64_t>(from - at));
    std::uint8_t* there = resolve(p.packed + from);
    copy_span(w.id() % group, group, pack ? there : here, pack ? here : there,
              static_cast<std::uint64_t>(to - from));
  }
}

// --- kernels ---

/// The share of block `block` of `blocks`.
template <bool pack, class W>
TELPHER_DEVICE void move_blocks(W w, const pack_blocks& p, unsigned block, unsigned blocks) {
  switch (p.unit) {
    case 16:
      return move_units<pack, bytes16>(w, p, block, blocks);
    case 8:
      return move_units<pack, std::uint64_t>(w, p, block, blocks);
    case 4:
      return move_units<pack, std::uint32_t>(w, p, block, blocks);
    default:
      return move_rows<pack>(w, p, block, blocks);
  }
}

template <class W>
TELPHER_DEVICE void pack_blocks_body(W w, const pack_blocks& p) {
  move_blocks<true>(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void unpack_blocks_body(W w, const unpack_blocks& p) {
  move_blocks<false>(w, p, w.block(), w.blocks());
}

template <class W>
TELPHER_DEVICE void unpack_all_body(W w, const unpack_all& p) {
  move_blocks<false>(w, p.each[w.block() / p.share], w.block() % p.share, p.share);
}

// --- the order of bytes ---

/// Of each unit in a word.
TELPHER_DEVICE std::uint64_t swapped(std::uint64_t word, std::uint32_t unit) {
  constexpr std::uint64_t bytes = 0x00ff00ff00ff00ff, pairs = 0x0000ffff0000ffff;
  word = (word & bytes) << 8 | (word >> 8 & bytes);
  if (unit >= 4) word = (word & pairs) << 16 | (word >> 16 & pairs);
  return unit == 8 ? word << 32 | word >> 32 : word;
}

template <class W>
TELPHER_DEVICE void swap_bytes_body(W w, const swap_bytes& p) {
  std::uint8_t* const to = resolve(p.to);
  const std::uint8_t* const from = resolve(p.from);
  const std::uint64_t workers = std::uint64_t{w.blocks()} * w.size();
  const std::uint64_t index = std::uint64_t{w.block()} * w.size() + w.id();
  const bool aligned =
      (reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % 8 == 0;
  const std::uint64_t words = aligned ? p.bytes / 8 : 0;
  for (std::uint64_t i = index; i < words; i += workers)
    store<std::uint64_t>(to + 8 * i, swapped(load<std::uint64_t>(from + 8 * i), p.unit));
  // The rest, byte by byte. Both bytes of a pair are read before one is written.
  for (std::uint64_t i = words * 8 + index * p.unit; i < p.bytes; i += workers * p.unit)
    for (std::uint32_t low = 0, high = p.unit - 1; low < high; ++low, --high) {
      const std::uint8_t first = from[i + low], last = from[i + high];
      to[i + low] = last;
      to[i + high] = first;
    }
}

}  // namespace telpher::kernel
