// SPDX-License-Identifier: BSD-3-Clause
// What the steps of an exchange program are made of (protocol in exchange.hpp): slices, patience,
// operands in plain and packed memory, and the steps that only move.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

enum class exchange_op : std::uint8_t { copy = 1, spread, reduce, signal, wait };

constexpr std::uint64_t packed_mark = std::uint64_t{1} << 63;
constexpr std::uint64_t slice_unit = 64;

/// A work item has nothing left to do in a step.
constexpr std::uint64_t through = ~std::uint64_t{0};

/// The part of a span that a block does.
struct slice {
  std::uint64_t begin, bytes;
};
TELPHER_BOTH slice slice_of(std::uint64_t bytes, unsigned block, unsigned blocks) {
  const std::uint64_t units = (bytes + slice_unit - 1) / slice_unit;
  const std::uint64_t begin = units * block / blocks * slice_unit;
  const std::uint64_t end = units * (block + 1) / blocks * slice_unit;
  return {begin, (end < bytes ? end : bytes) - (begin < bytes ? begin : bytes)};
}

/// Whether a work item may go on waiting; looks at the clock and asks the host now and then.
class patience {
 public:
  TELPHER_DEVICE explicit patience(const exchange& p) : p_(p) {}
  TELPHER_DEVICE bool ends() {
    relax();
    if (++polls_ % polls_between_looks == 0) look();
    return over_;
  }

 private:
  static constexpr std::uint32_t polls_between_looks = 128;  // of some 0.5 us each

  TELPHER_DEVICE void look() {
    const std::uint64_t now = now_ns();
    if (since_ == 0) since_ = now;
    over_ =
        now - since_ >= p_.patience_ns || load_acquire_system(resolve(p_.stop)) == p_.done_value;
  }

  const exchange& p_;
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
/// The packed word that holds the payload bytes from `byte` (a multiple of 4) on.
TELPHER_DEVICE std::uint64_t* packed_word(std::uint64_t operand, std::uint64_t byte) {
  return resolve(reinterpret_cast<std::uint64_t*>(
             static_cast<std::uintptr_t>(operand & ~packed_mark))) +
         byte / 4;
}
/// False: patience ended first.
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

/// Up to 4 bytes; the rest of the word is 0.
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

// Steps of packed memory begin at `at` (0, or where the work item paused) and answer where it
// paused, or the slice's end.
template <class W>
TELPHER_DEVICE_CALL std::uint64_t copy_packed(W w, const exchange& p, std::uint64_t to,
                                              std::uint64_t from, slice s, std::uint64_t at) {
  patience waiting(p);
  for (at += at == 0 ? std::uint64_t{w.id()} * 4 : 0; at < s.bytes;
       at += std::uint64_t{w.size()} * 4) {
    const std::uint64_t byte = s.begin + at, left = s.bytes - at;
    std::uint32_t word = 0;
    if (is_packed(from)) {
      const std::uint64_t* source = packed_word(from, byte);
      if (!await_word(source, load_relaxed_system(source), p.packed_epoch, waiting, word))
        return at;
    } else {
      word = load_few(plain(from) + byte, left);
    }
    if (is_packed(to))
      store_word(packed_word(to, byte), word, p.packed_epoch);
    else
      store_few(plain(to) + byte, word, left);
  }
  return through;
}

template <class W>
TELPHER_DEVICE_CALL std::uint64_t copy_step(W w, const exchange& p, const std::uint64_t* step,
                                            std::uint64_t begin) {
  const slice s = slice_of(step[1], w.block(), w.blocks());
  const std::uint64_t to = step[2], from = step[3];
  if (is_packed(to) || is_packed(from)) return copy_packed(w, p, to, from, s, begin);
  copy_span(w.id(), w.size(), plain(to) + s.begin, plain(from) + s.begin, s.bytes);
  return through;
}

/// All addresses have the same distance to a 16-byte boundary.
TELPHER_DEVICE bool aligned_alike(std::uint64_t to, const std::uint64_t* others, unsigned n) {
  std::uint64_t apart = 0;
  for (unsigned i = 0; i < n; ++i) apart |= others[i] ^ to;
  return apart % 16 == 0;
}

// What all targets get is read once.
template <class W>
TELPHER_DEVICE_CALL void spread_step(W w, const std::uint64_t* step) {
  const slice s = slice_of(step[1], w.block(), w.blocks());
  const auto targets = static_cast<unsigned>(step[0] >> 8 & 0xff);
  const std::uint8_t* from = plain(step[2]) + s.begin;
  const std::uint64_t vectors = s.bytes / 16, step_vectors = w.size();
  std::uint64_t done = 0;
  if (step[2] % 16 == 0 && aligned_alike(step[2], step + 3, targets)) {  // slices begin so too
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

}  // namespace telpher::kernel
