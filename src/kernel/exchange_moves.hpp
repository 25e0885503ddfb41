// SPDX-License-Identifier: BSD-3-Clause
// The steps of an exchange program that only copy, and the swap (protocol in exchange.hpp).
#pragma once

#include "kernel/exchange_operands.hpp"

namespace telpher::kernel {

// --- copy ---

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
TELPHER_DEVICE_CALL void spread_step(W w, slice s, const std::uint64_t* step) {
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

// The rank that gives the program has exclusive access to the target. So plain accesses are enough;
// over some links devices have no atomic ones. All three loads are under way before the first is
// used.
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
