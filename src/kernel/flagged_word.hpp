// SPDX-License-Identifier: BSD-3-Clause
// Words that carry their own flag: data and a mark, stored in one access and loaded in one. Who
// reads the mark that it waits for has the data, without a fence and without a flag elsewhere (as
// in NCCL's LL protocol). A mark is never 0, which is what cleared memory holds.
#pragma once

#include "kernel/atomics.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

#if defined(TELPHER_LANGUAGE_CUDA) || defined(TELPHER_LANGUAGE_CPU)
constexpr unsigned flagged_parts = 3;  // of 4 bytes, with a mark of 4
#else
constexpr unsigned flagged_parts = 1;  // the language has no atomic access of 16 bytes
#endif
constexpr std::uint64_t flagged_payload = 4 * flagged_parts;

struct flagged_word {
  std::uint32_t part[flagged_parts];
  std::uint32_t mark;
};

#if defined(TELPHER_LANGUAGE_CUDA) || defined(TELPHER_LANGUAGE_CPU)
TELPHER_DEVICE flagged_word load_flagged(const std::uint8_t* words, std::uint64_t i) {
  const word_pair both = load_pair_system(words + i * sizeof(flagged_word));
  return {{static_cast<std::uint32_t>(both.low), static_cast<std::uint32_t>(both.low >> 32),
           static_cast<std::uint32_t>(both.high)},
          static_cast<std::uint32_t>(both.high >> 32)};
}
TELPHER_DEVICE void store_flagged(std::uint8_t* words, std::uint64_t i, const flagged_word& p) {
  store_pair_system(words + i * sizeof(flagged_word), {std::uint64_t{p.part[1]} << 32 | p.part[0],
                                                       std::uint64_t{p.mark} << 32 | p.part[2]});
}
#else
TELPHER_DEVICE flagged_word load_flagged(const std::uint8_t* words, std::uint64_t i) {
  const std::uint64_t word = load_relaxed_system(reinterpret_cast<const std::uint64_t*>(words) + i);
  return {{static_cast<std::uint32_t>(word)}, static_cast<std::uint32_t>(word >> 32)};
}
TELPHER_DEVICE void store_flagged(std::uint8_t* words, std::uint64_t i, const flagged_word& p) {
  store_relaxed_system(reinterpret_cast<std::uint64_t*>(words) + i,
                       std::uint64_t{p.mark} << 32 | p.part[0]);
}
#endif

}  // namespace telpher::kernel
