// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/outcome.hpp"

#include <algorithm>

#include "schedules/expected.hpp"

namespace telpher::coll {
namespace {

bool covered(const std::vector<expectation>& all, std::uint64_t begin, std::uint64_t end) {
  for (const expectation& e : all)
    if (e.offset <= begin && begin < e.offset + e.count) begin = e.offset + e.count;
  return begin >= end;
}

bool holds(std::vector<value_table::run> runs, bool commutative, const expectation& e) {
  if (commutative)
    std::sort(runs.begin(), runs.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  std::int32_t next = e.first;
  for (const auto& r : runs) {
    if (r.first != next) return false;
    next = r.last + 1;
  }
  return next == e.last + 1;
}

content whole(const cells& output) {
  content all;
  for (const auto& [begin, cell] : output.all()) append(all, cell.holds, 0, cell.count);
  return all;
}

}  // namespace

std::string check_output(const problem& p, std::int32_t rank, const cells& output,
                         const value_table& values) {
  const std::string who = "rank " + std::to_string(rank) + "'s output ";
  const auto expected = expected_output(p, rank);
  for (const expectation& e : expected)
    for (std::uint64_t at = e.offset; at < e.offset + e.count;) {
      const auto found = output.holding(at);
      if (found == output.all().end()) return who + "has nothing at " + std::to_string(at);
      const std::uint64_t end = std::min(found->first + found->second.count, e.offset + e.count);
      content here;
      append(here, found->second.holds, at - found->first, end - at);
      for (const part& one : here) {
        if (!holds(values.contributions(one.value), p.commutative, e))
          return who + "has wrong contributions at " + std::to_string(at);
        if (one.origin != e.origin + (at - e.offset))
          return who + "holds other elements than it should at " + std::to_string(at);
        at += one.count;
      }
    }
  for (const auto& [begin, cell] : output.all())
    if (!cell.initial() && !covered(expected, begin, begin + cell.count))
      return who + "is written where nothing belongs, at " + std::to_string(begin);
  return {};
}

std::string check_same_bits(const std::vector<const cells*>& outputs) {
  const content first = whole(*outputs[0]);
  for (std::size_t r = 1; r < outputs.size(); ++r) {
    const content other = whole(*outputs[r]);
    const bool same = std::equal(
        first.begin(), first.end(), other.begin(), other.end(),
        [](const part& a, const part& b) { return a.count == b.count && a.value == b.value; });
    if (!same) return "ranks 0 and " + std::to_string(r) + " reduce elements in different orders";
  }
  return {};
}

}  // namespace telpher::coll
