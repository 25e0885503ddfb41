// SPDX-License-Identifier: BSD-3-Clause
// The parts of which the steps of an exchange program are made (protocol in exchange.hpp): slices,
// patience, and operands in plain and packed memory.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/kernel.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

enum class exchange_op : std::uint8_t {
  copy = 1,
  copies,
  spread,
  reduce,
  fetch,
  swap,
  signal,
  wait,
  meet,
  await
};

constexpr std::uint64_t packed_mark = std::uint64_t{1} << 63;
constexpr unsigned slice_unit = 64;
/// The same where packed memory is in lines: the data of four lines, which a warp takes at once. It
/// fills whole 32-byte sectors of plain memory.
constexpr unsigned line_slice_unit = 4 * packed_line::payload;

/// Position of a work item that has finished a step.
constexpr std::uint64_t through = ~std::uint64_t{0};

/// The part of a span that a block works on.
struct slice {
  std::uint64_t begin, bytes;
};
template <unsigned unit = slice_unit, class Number = std::uint64_t>
TELPHER_BOTH slice slice_of(Number bytes, unsigned block, unsigned blocks) {
  const Number units = (bytes + (unit - 1)) / unit;
  const Number begin = units * block / blocks * unit;
  const Number end = units * (block + 1) / blocks * unit;
  return {begin, (end < bytes ? end : bytes) - (begin < bytes ? begin : bytes)};
}
/// The slice where packed memory is in lines. Such spans have less than 2^32 bytes, and a GPU
/// divides 32 bits much faster than 64.
TELPHER_BOTH slice line_slice(std::uint64_t bytes, unsigned block, unsigned blocks) {
  return slice_of<line_slice_unit>(static_cast<std::uint32_t>(bytes), block, blocks);
}

/// What differs between the calls of one launch.
struct exchange_call {
  const std::uint64_t* code;
  std::uint32_t words;
  std::uint32_t packed_epoch;
  std::uint32_t done_value;
  std::uint32_t blocks;  // number of blocks that work on the call: the first ones of the launch
  std::uint64_t epoch;
  std::uint32_t of_graphs;  // of a replay: how many calls, with this one
};

#if defined(TELPHER_LANGUAGE_CUDA)
constexpr bool has_lines = true;
#else
constexpr bool has_lines = false;  // packed memory is always in words
#endif

/// Decides whether a work item may go on waiting. It reads the clock and the host's `stop` only at
/// every 128th poll.
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
/// Waits until a packed word, last seen as `seen`, has the call's epoch, and gives its data as
/// `word`. False if patience ended first.
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

// --- bytes of plain memory ---

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

}  // namespace telpher::kernel
