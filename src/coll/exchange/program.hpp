// SPDX-License-Identifier: BSD-3-Clause
// Compiles a rank's schedule to the program of the exchange kernel. Spans become addresses as
// mapped in this process. A run of signals (or of waits) becomes one step with a mask of peers. A
// wait for the own rank is one for all its blocks (meet). The host may stand for a further rank. A
// sum and the copies that are made of it become one step with several targets. In the packed
// transport scratch spans become packed memory, and signals and waits are left out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "coll/exchange/agreement.hpp"
#include "coll/schedule/schedule.hpp"
#include "kernel/kernel.hpp"

namespace telpher::coll::exchange {

/// Where a rank's spaces lie, as mapped in this process; 0: not mapped.
struct spaces {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t scratch = 0;
  std::uint64_t inbox = 0;  // packed memory
};
using space_map = std::array<spaces, most_ranks>;

/// How a replay's program begins (kernel/exchange.hpp, Replays).
enum class meeting : std::uint8_t { none, of_all, of_call_before };

struct compilation {
  const schedule& what;
  const space_map& map;
  std::uint64_t unit = 1;  // bytes of an element
  bool packed = false;
  meeting begins = meeting::none;
  kernel::packed_format format = kernel::packed_format::words;
  std::int32_t host = -1;  // the rank that the host stands for, if it does
};

/// Bytes of packed memory for so many elements of scratch. A span begins at a word of its own,
/// whatever the size of its elements; or at a line of its own, if the problem's granule is
/// line_granule.
constexpr std::uint64_t packed_bytes(kernel::packed_format format, std::uint64_t elements,
                                     std::uint64_t unit) {
  using line = kernel::packed_line;
  if (format == kernel::packed_format::lines)
    return (elements * unit + line::payload - 1) / line::payload * line::bytes;
  return elements * (unit < 4 ? 8 : 2 * unit);
}

/// Whole lines, which wide accesses reach as well.
constexpr std::uint64_t line_granule(std::uint64_t unit) {
  return 4 * kernel::packed_line::payload / unit;
}

/// The address of a span, with the mark of packed memory where it lies there.
std::uint64_t address_of(const span& s, const compilation& c) noexcept;

/// The most words that a program of this schedule has.
std::size_t most_words(const schedule& s) noexcept;

/// The words of the program of some steps, or of all. invalid_argument: a span is not mapped, or a
/// step is for another node. Takes no memory where `words` has the capacity of most_words.
status compile(const compilation& c, std::span<const step> steps,
               std::vector<std::uint64_t>& words) noexcept;
inline status compile(const compilation& c, std::vector<std::uint64_t>& words) noexcept {
  return compile(c, c.what.steps, words);
}

}  // namespace telpher::coll::exchange
