// SPDX-License-Identifier: BSD-3-Clause
// A run of bytes that travels in flagged words (flagged_word.hpp). Several work items share it:
// each has an index among `workers`.
#pragma once

#include "kernel/flagged_word.hpp"

namespace telpher::kernel {

/// Words that a work item has in flight together.
constexpr unsigned flagged_at_once = 4;

TELPHER_BOTH constexpr std::uint64_t flagged_words(std::uint64_t bytes) {
  return (bytes + flagged_payload - 1) / flagged_payload;
}

/// The 4 bytes from 4 * i on, as far as there are so many.
TELPHER_DEVICE std::uint32_t part_of(const std::uint8_t* from, std::uint64_t i,
                                     std::uint64_t bytes) {
  const std::uint8_t* const at = from + 4 * i;
  if (reinterpret_cast<std::uintptr_t>(at) % 4 == 0 && 4 * i + 4 <= bytes)
    return load<std::uint32_t>(at);
  std::uint32_t part = 0;  // behind the end, too
  for (unsigned b = 0; b < 4 && 4 * i + b < bytes; ++b) part |= std::uint32_t{at[b]} << 8 * b;
  return part;
}

TELPHER_DEVICE void set_part(std::uint8_t* to, std::uint64_t i, std::uint64_t bytes,
                             std::uint32_t part) {
  std::uint8_t* const at = to + 4 * i;
  if (reinterpret_cast<std::uintptr_t>(at) % 4 == 0 && 4 * i + 4 <= bytes)
    return store<std::uint32_t>(at, part);
  for (unsigned b = 0; b < 4 && 4 * i + b < bytes; ++b)
    at[b] = static_cast<std::uint8_t>(part >> 8 * b);
}

TELPHER_DEVICE void put_flagged(std::uint8_t* words, const std::uint8_t* from, std::uint64_t bytes,
                                std::uint32_t mark, std::uint64_t index, std::uint64_t workers) {
  const std::uint64_t count = flagged_words(bytes);
  for (std::uint64_t first = index; first < count; first += flagged_at_once * workers) {
    flagged_word word[flagged_at_once] = {};
    TELPHER_UNROLL
    for (unsigned k = 0; k < flagged_at_once; ++k) {
      word[k].mark = mark;
      TELPHER_UNROLL
      for (unsigned j = 0; j < flagged_parts; ++j)
        word[k].part[j] = part_of(from, (first + k * workers) * flagged_parts + j, bytes);
    }
    TELPHER_UNROLL
    for (unsigned k = 0; k < flagged_at_once; ++k)
      if (first + k * workers < count) store_flagged(words, first + k * workers, word[k]);
  }
}

/// Waits for the mark in each word, until `gives_up()`, which is asked now and then.
template <class GivesUp>
TELPHER_DEVICE void take_flagged(std::uint8_t* to, const std::uint8_t* words, std::uint64_t bytes,
                                 std::uint32_t mark, std::uint64_t index, std::uint64_t workers,
                                 GivesUp gives_up) {
  constexpr unsigned looks_between = 1024;
  const std::uint64_t count = flagged_words(bytes);
  for (std::uint64_t first = index; first < count; first += flagged_at_once * workers) {
    flagged_word word[flagged_at_once];
    TELPHER_UNROLL
    for (unsigned k = 0; k < flagged_at_once; ++k)
      if (first + k * workers < count) word[k] = load_flagged(words, first + k * workers);
    TELPHER_UNROLL
    for (unsigned k = 0; k < flagged_at_once; ++k) {
      const std::uint64_t i = first + k * workers;
      if (i >= count) break;
      for (unsigned looks = 1; word[k].mark != mark; word[k] = load_flagged(words, i), ++looks) {
        if (looks % looks_between == 0 && gives_up()) return;
        relax();
      }
      TELPHER_UNROLL
      for (unsigned j = 0; j < flagged_parts; ++j)
        set_part(to, i * flagged_parts + j, bytes, word[k].part[j]);
    }
  }
}

}  // namespace telpher::kernel
