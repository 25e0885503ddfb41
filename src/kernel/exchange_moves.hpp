// SPDX-License-Identifier: BSD-3-Clause
// The parts of which the steps of an exchange program are made (protocol in exchange.hpp): slices,
// patience, operands in plain and packed memory, and the steps that only copy.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

enum class exchange_op : std::uint8_t { copy = 1, copies, spread, reduce, swap, signal, wait };

constexpr std::uint64_t packed_mark = std::uint64_t{1} << 63;
constexpr std::uint64_t slice_unit = 64;

/// Position of a work item that has finished a step.
constexpr std::uint64_t through = ~std::uint64_t{0};

/// The part of a span that a block works on.
struct slice {
  std::uint64_t begin, bytes;
};
TELPHER_BOTH slice slice_of(std::uint64_t bytes, unsigned block, unsigned blocks) {
  const std::uint64_t units = (bytes + slice_unit - 1) / slice_unit;
  const std::uint64_t begin = units * block / blocks * slice_unit;
  const std::uint64_t end = units * (block + 1) / blocks * slice_unit;
  return {begin, (end < bytes ? end : bytes) - (begin < bytes ? begin : bytes)};
}

/// What differs between the calls of one launch.
struct exchange_call {
  const std::uint64_t* code;
  std::uint32_t words;
  std::uint32_t packed_epoch;
  std::uint32_t done_value;
  std::uint32_t blocks;  // number of blocks that work on the call: the first ones of the launch
  std::uint64_t epoch;
};

/// Decides whether a work item may go on waiting. It reads the clock and the host's `stop` now and
/// then.
class patience {
 public:
  TELPHER_DEVICE patience(const exchange& p, const exchange_call& c)
      : p_(p), done_value_(c.done_value) {}
  TELPHER_DEVICE bool ends() {
    relax();
    if (++polls_ % polls_between_looks == 0) look();
    return over_;
  }

 private:
  static constexpr std::uint32_t polls_between_looks = 128;  // some 0.5 us each

  TELPHER_DEVICE void look() {
    const std::uint64_t now = now_ns();
    if (since_ == 0) since_ = now;
    over_ = now - since_ >= p_.patience_ns || load_acquire_system(resolve(p_.stop)) == done_value_;
  }

  const exchange& p_;
  std::uint32_t done_value_;
  std::uint64_t since_ = 0;
  std::uint32_t polls_ = 0;
  bool over_ = false;
};

// --- operands ---

TELPHER_DEVICE bool is_packed(std::uint64_t operand) {
  return (operand & packed_mark) != 0;
}
TELPHER_DEVICE std::uint8_t* plain(std::uint64_t operand) {
  return resolve(reinterpret_cast<std::uint8_t*>(static_cast<std::uintptr_t>(operand)));
}
/// The packed word that holds the payload from `byte` (a multiple of 4) on.
TELPHER_DEVICE std::uint64_t* packed_word(std::uint64_t operand, std::uint64_t byte) {
  return resolve(reinterpret_cast<std::uint64_t*>(
             static_cast<std::uintptr_t>(operand & ~packed_mark))) +
         byte / 4;
}
/// False if patience ended first.
TELPHER_DEVICE bool await_word(const std::uint64_t* at, std::uint64_t seen, std::uint32_t epoch,
                               patience& p, std::uint32_t& word) {
  while (static_cast<std::uint32_t>(seen >> 32) != epoch) {
    if (p.ends()) return false;
    seen = load_relaxed_system(at);
  }
  word = static_cast<std::uint32_t>(seen);
  return true;
}
TELPHER_DEVICE void store_word(std::uint64_t* at, std::uint32_t data, std::uint32_t epoch) {
  store_relaxed_system(at, std::uint64_t{epoch} << 32 | data);
}

// --- copy ---

/// Loads up to 4 bytes; the rest of the word is 0.
TELPHER_DEVICE std::uint32_t load_few(const std::uint8_t* from, std::uint64_t bytes) {
  if (bytes >= 4 && reinterpret_cast<std::uintptr_t>(from) % 4 == 0)
    return load<std::uint32_t>(from);
  std::uint32_t word = 0;
  for (unsigned i = 0; i < 4 && i < bytes; ++i)
    word |= static_cast<std::uint32_t>(from[i]) << 8 * i;
  return word;
}
TELPHER_DEVICE void store_few(std::uint8_t* to, std::uint32_t word, std::uint64_t bytes) {
  if (bytes >= 4 && reinterpret_cast<std::uintptr_t>(to) % 4 == 0)
    return store<std::uint32_t>(to, word);
  for (unsigned i = 0; i < 4 && i < bytes; ++i) to[i] = static_cast<std::uint8_t>(word >> 8 * i);
}

/// The work items that work on one span together, and the number of this one.
struct share {
  std::uint64_t item, items;
};

// Steps on packed memory start at `at` (0, or where the work item paused) and return where it
// paused, or `through`. Words in flight together lie `step` bytes apart.
TELPHER_DEVICE_CALL std::uint64_t copy_packed(const exchange& p, const exchange_call& c, share part,
                                              std::uint64_t to, std::uint64_t from, slice s,
                                              std::uint64_t at) {
  constexpr unsigned at_once = 4;
  patience waiting(p, c);
  const std::uint64_t step = part.items * 4;
  for (at += at == 0 ? part.item * 4 : 0; at < s.bytes; at += at_once * step) {
    const std::uint64_t first = s.begin + at;
    std::uint64_t seen[at_once] = {};
    TELPHER_UNROLL
    for (unsigned k = 0; k < at_once; ++k)
      if (at + k * step < s.bytes)
        seen[k] = is_packed(from)
                      ? load_relaxed_system(packed_word(from, first + k * step))
                      : load_few(plain(from) + first + k * step, s.bytes - at - k * step);
    TELPHER_UNROLL
    for (unsigned k = 0; k < at_once; ++k) {
      if (at + k * step >= s.bytes) break;
      const std::uint64_t byte = first + k * step;
      auto word = static_cast<std::uint32_t>(seen[k]);
      if (is_packed(from) &&
          !await_word(packed_word(from, byte), seen[k], c.packed_epoch, waiting, word))
        return at;
      if (is_packed(to))
        store_word(packed_word(to, byte), word, c.packed_epoch);
      else
        store_few(plain(to) + byte, word, s.bytes - at - k * step);
    }
  }
  return through;
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t copy_step(W w, const exchange& p, const exchange_call& c,
                                            const std::uint64_t* step, std::uint64_t begin) {
  const slice s = slice_of(step[1], w.block(), c.blocks);
  const std::uint64_t to = step[2], from = step[3];
  if (is_packed(to) || is_packed(from))
    return copy_packed(p, c, {w.id(), w.size()}, to, from, s, begin);
  copy_span(w.id(), w.size(), plain(to) + s.begin, plain(from) + s.begin, s.bytes);
  return through;
}

// The block's work items are distributed over the copies, as whole wavefronts if there are enough,
// because one copy may wait for what a peer does after another copy. A saved position has the copy
// in its upper 16 bits.
template <class W>
TELPHER_DEVICE_CALL std::uint64_t copies_step(W w, const exchange& p, const exchange_call& c,
                                              const std::uint64_t* step, std::uint64_t begin) {
  constexpr unsigned copy_bits = 48;
  const auto copies = static_cast<unsigned>(step[0] >> 8 & 0xff);
  constexpr unsigned wavefront = 64;
  unsigned items = w.size() > copies ? w.size() / copies : 1;
  if (items > wavefront) items -= items % wavefront;
  const unsigned teams = w.size() / items;
  unsigned i = begin == 0 ? w.id() / items : static_cast<unsigned>(begin >> copy_bits);
  std::uint64_t at = begin & ((std::uint64_t{1} << copy_bits) - 1);
  for (; i < copies; i += teams, at = 0) {
    const std::uint64_t* one = step + 1 + 3 * i;
    const slice s = slice_of(one[0], w.block(), c.blocks);
    const std::uint64_t reached = copy_packed(p, c, {w.id() % items, items}, one[1], one[2], s, at);
    if (reached != through) return std::uint64_t{i} << copy_bits | reached;
  }
  return through;
}

/// Whether all addresses have the same offset from a 16-byte boundary.
TELPHER_DEVICE bool aligned_alike(std::uint64_t to, const std::uint64_t* others, unsigned n) {
  std::uint64_t apart = 0;
  for (unsigned i = 0; i < n; ++i) apart |= others[i] ^ to;
  return apart % 16 == 0;
}

// The source is read once for all targets.
template <class W>
TELPHER_DEVICE_CALL void spread_step(W w, unsigned blocks, const std::uint64_t* step) {
  const slice s = slice_of(step[1], w.block(), blocks);
  const auto targets = static_cast<unsigned>(step[0] >> 8 & 0xff);
  const std::uint8_t* from = plain(step[2]) + s.begin;
  const std::uint64_t vectors = s.bytes / 16, step_vectors = w.size();
  std::uint64_t done = 0;
  if (step[2] % 16 == 0 && aligned_alike(step[2], step + 3, targets)) {  // as slices are
    constexpr unsigned at_once = 4;
    for (std::uint64_t first = w.id(); first < vectors; first += at_once * step_vectors) {
      decltype(load<bytes16>(from)) values[at_once] = {};
      TELPHER_UNROLL
      for (unsigned v = 0; v < at_once; ++v)
        if (first + v * step_vectors < vectors)
          values[v] = load<bytes16>(from + (first + v * step_vectors) * 16);
      for (unsigned t = 0; t < targets; ++t) {
        std::uint8_t* to = plain(step[3 + t]) + s.begin;
        TELPHER_UNROLL
        for (unsigned v = 0; v < at_once; ++v)
          if (first + v * step_vectors < vectors)
            store<bytes16>(to + (first + v * step_vectors) * 16, values[v]);
      }
    }
    done = vectors * 16;
  }
  for (unsigned t = 0; t < targets; ++t)
    copy_span(w.id(), w.size(), plain(step[3 + t]) + s.begin + done, from + done, s.bytes - done);
}

// --- swap ---

// Whoever gives the program has the target to itself, so these are plain accesses: over some links
// devices have no atomic ones. All three loads are under way before the first is used.
template <class T>
TELPHER_DEVICE void swap_value(const std::uint64_t* step) {
  const T held = load<T>(plain(step[2])), given = load<T>(plain(step[3])),
          expected = load<T>(plain(step[4]));
  store<T>(plain(step[5]), held);
  if (held == expected) store<T>(plain(step[2]), given);
}

template <class W>
TELPHER_DEVICE_CALL void swap_step(W w, const std::uint64_t* step) {
  if (w.id() != 0 || w.block() != 0) return;
  switch (step[1]) {
    case 1:
      return swap_value<std::uint8_t>(step);
    case 2:
      return swap_value<std::uint16_t>(step);
    case 4:
      return swap_value<std::uint32_t>(step);
    default:
      return swap_value<std::uint64_t>(step);
  }
}

}  // namespace telpher::kernel
