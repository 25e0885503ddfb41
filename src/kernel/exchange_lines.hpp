// SPDX-License-Identifier: BSD-3-Clause
// Packed memory in lines (protocol in exchange.hpp). 8 neighbouring work items of a warp store a
// line of 128 aligned bytes in one access, 16 bytes each, and load it in one. The last 8 bytes are
// the call's epoch: a reader that finds it has the whole line. That requires that a warp's store of
// an aligned line arrives whole. The memory model does not promise this, but it holds on one device
// and over NVLink (NCCL's LL128 relies on it as well). Lines are used only if all ranks have said
// that it holds for them (device::backend::delivers_lines).
//
// Neighbour i of a line has the words i and 8 + i of its data; word 15 is the epoch. So the eight
// of them access plain memory in runs of 64 bytes, for which an alignment of 8 is enough. A whole
// warp goes through a step together, four lines at once. Only replays have lines: nothing here
// pauses.
#pragma once

#include "kernel/exchange_operands.hpp"

namespace telpher::kernel {

// Load or store up to 8 bytes of plain memory; the rest of a word that is loaded is 0. Only ends of
// spans and addresses that 8 does not divide need these two. They are called, not inlined, because
// inlined they would take more registers than a kernel may have.
TELPHER_DEVICE_CALL std::uint64_t load_part_of_word(const std::uint8_t* from, std::uint32_t bytes) {
  const std::uint64_t high = bytes > 4 ? load_few(from + 4, bytes - 4) : 0;
  return high << 32 | load_few(from, bytes);
}
TELPHER_DEVICE_CALL void store_part_of_word(std::uint8_t* to, std::uint64_t word,
                                            std::uint32_t bytes) {
  store_few(to, static_cast<std::uint32_t>(word), bytes);
  if (bytes > 4) store_few(to + 4, static_cast<std::uint32_t>(word >> 32), bytes - 4);
}
TELPHER_DEVICE std::uint64_t load_word_of(const std::uint8_t* from, std::uint32_t bytes) {
  if (bytes >= 8 && reinterpret_cast<std::uintptr_t>(from) % 8 == 0)
    return load<std::uint64_t>(from);
  return bytes > 0 ? load_part_of_word(from, bytes) : 0;
}
TELPHER_DEVICE void store_word_of(std::uint8_t* to, std::uint64_t word, std::uint32_t bytes) {
  if (bytes >= 8 && reinterpret_cast<std::uintptr_t>(to) % 8 == 0)
    store<std::uint64_t>(to, word);
  else if (bytes > 0)
    store_part_of_word(to, word, bytes);
}

/// A work item's part of a line: two words, of which it may have less than 16 bytes.
struct line_part {
  static constexpr std::uint64_t apart = 64;  // the words, in plain memory
  bool taken;                                 // false: the slice has no such line
  std::uint32_t bytes[2];                     // of the words
  std::uint64_t packed, plain;                // its offset from an operand's address
};

/// How a number of whole warps shares the lines of a slice. A warp takes four lines in a pass.
class line_row {
 public:
  static constexpr unsigned warp = 32, neighbours = 8, at_once = warp / neighbours;

  TELPHER_DEVICE line_row(share part, slice s)
      : bytes_(static_cast<std::uint32_t>(s.bytes)),
        lines_((bytes_ + payload - 1) / payload),
        first_(static_cast<std::uint32_t>(part.item) / warp * at_once),
        step_(static_cast<std::uint32_t>(part.items) / warp * at_once),
        own_(static_cast<std::uint32_t>(part.item) % warp / neighbours),
        neighbour_(static_cast<std::uint32_t>(part.item) % neighbours),
        packed_(s.begin / payload * packed_line::bytes + neighbour_ * sizeof(word_pair)),
        plain_(s.begin + neighbour_ * sizeof(std::uint64_t)) {}

  // A pass begins at a line which is the same for the whole warp.
  TELPHER_DEVICE std::uint32_t first() const { return first_; }
  TELPHER_DEVICE std::uint32_t step() const { return step_; }
  TELPHER_DEVICE std::uint32_t end() const { return lines_; }

  TELPHER_DEVICE line_part part(std::uint32_t pass) const {
    const std::uint32_t line = pass + own_;
    const bool taken = line < lines_;
    const std::uint32_t left = taken ? bytes_ - line * payload : 0;
    const std::uint32_t filled = left < payload ? left : payload;
    const std::uint32_t low = neighbour_ * 8, high = line_part::apart + low;
    return {taken,
            {filled > low ? filled - low : 0, filled > high ? filled - high : 0},
            packed_ + std::uint64_t{line} * packed_line::bytes,
            plain_ + std::uint64_t{line} * payload};
  }
  TELPHER_DEVICE bool has_flag() const { return neighbour_ == neighbours - 1; }

 private:
  static constexpr std::uint32_t payload = packed_line::payload;

  std::uint32_t bytes_, lines_, first_, step_, own_, neighbour_;
  std::uint64_t packed_, plain_;
};

TELPHER_DEVICE std::uint8_t* packed_part(const line_part& at, std::uint64_t operand) {
  return plain(operand & ~packed_mark) + at.packed;
}

/// Loads a part of an operand, once. `awaited` becomes the address to load again until the epoch is
/// there; null for plain memory, and where the slice has no such line.
TELPHER_DEVICE word_pair load_part(const line_part& at, std::uint64_t operand,
                                   const std::uint8_t*& awaited) {
  awaited = nullptr;
  if (is_packed(operand)) {
    if (!at.taken) return {0, 0};
    awaited = packed_part(at, operand);
    return load_pair_system(awaited);
  }
  const std::uint8_t* from = plain(operand) + at.plain;
  return {load_word_of(from, at.bytes[0]), load_word_of(from + line_part::apart, at.bytes[1])};
}

/// Waits until every line that the warp awaits has come, as seen by the neighbour that has its
/// flag. Each round loads all parts again together. So several lines cost one round trip, not one
/// each, and the neighbours of a line load it in the same access as the flag.
template <unsigned n, class W>
TELPHER_DEVICE void await_parts(W w, std::uint64_t epoch, bool has_flag,
                                const std::uint8_t* const (&awaited)[n], word_pair (&seen)[n]) {
  while (true) {
    bool missing = false;
    TELPHER_UNROLL
    for (unsigned k = 0; k < n; ++k)
      missing = missing || (has_flag && awaited[k] && seen[k].high != epoch);
    if (!w.any_of_warp(missing)) return;
    TELPHER_UNROLL
    for (unsigned k = 0; k < n; ++k)
      if (awaited[k]) seen[k] = load_pair_system(awaited[k]);
  }
}

template <class W>
TELPHER_DEVICE void store_packed_part(W w, std::uint64_t epoch, bool has_flag, const line_part& at,
                                      std::uint64_t operand, word_pair value) {
  if (has_flag) value.high = epoch;
  w.join_warp();
  if (at.taken) store_pair_system(packed_part(at, operand), value);
}

/// A copy by a row of whole warps: into packed memory, or out of it.
template <class W>
TELPHER_DEVICE_CALL void copy_lines(W w, std::uint64_t epoch, share row_part, std::uint64_t to,
                                    std::uint64_t from, slice s) {
  constexpr unsigned at_once = 4;
  const line_row row(row_part, s);
  for (std::uint32_t pass = row.first(); pass < row.end(); pass += at_once * row.step()) {
    word_pair seen[at_once];
    const std::uint8_t* awaited[at_once];
    w.join_warp();  // a line's parts and its flag are loaded in one access
    TELPHER_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      seen[k] = load_part(row.part(pass + k * row.step()), from, awaited[k]);
    await_parts(w, epoch, row.has_flag(), awaited, seen);
    TELPHER_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      const line_part at = row.part(pass + k * row.step());
      if (is_packed(to)) {
        store_packed_part(w, epoch, row.has_flag(), at, to, seen[k]);
      } else {
        std::uint8_t* const target = plain(to) + at.plain;
        store_word_of(target, seen[k].low, at.bytes[0]);
        store_word_of(target + line_part::apart, seen[k].high, at.bytes[1]);
      }
    }
  }
}

// As copies_step (exchange_moves.hpp), by whole warps; or one copy.
template <class W>
TELPHER_DEVICE_CALL void copies_in_lines(W w, std::uint64_t epoch, unsigned blocks,
                                         const std::uint64_t* step) {
  const auto copies = static_cast<unsigned>(step[0] >> 8 & 0xff);
  const unsigned warps = w.size() / line_row::warp;
  const unsigned items = (warps > copies ? warps / copies : 1) * line_row::warp;
  const unsigned teams = w.size() / items;
  if (w.id() / items >= teams) return;
  for (unsigned i = w.id() / items; i < copies; i += teams) {
    const std::uint64_t* one = step + 1 + 3 * i;
    const slice s = line_slice(one[0], w.block(), blocks);
    const share part{w.id() % items, items};
    if (is_packed(one[1]) || is_packed(one[2]))
      copy_lines(w, epoch, part, one[1], one[2], s);
    else
      copy_span(part.item, part.items, plain(one[1]) + s.begin, plain(one[2]) + s.begin, s.bytes);
  }
}

}  // namespace telpher::kernel
