// SPDX-License-Identifier: BSD-3-Clause
// Contents: cutting, joining, combining.
#include "schedules/symbols.hpp"

#include <algorithm>

namespace telpher::coll {
namespace {

void append_part(content& to, const part& next) {
  if (!to.empty() && to.back().value == next.value &&
      to.back().origin + to.back().count == next.origin)
    to.back().count += next.count;
  else
    to.push_back(next);
}

}  // namespace

void append(content& to, const content& from, std::uint64_t offset, std::uint64_t count) {
  std::uint64_t begin = 0;
  for (const part& one : from) {
    const std::uint64_t first = std::max(begin, offset);
    const std::uint64_t last = std::min(begin + one.count, offset + count);
    if (first < last) append_part(to, {last - first, one.value, one.origin + (first - begin)});
    begin += one.count;
  }
}

bool combine(value_table& values, content& a, const content& b) {
  content both;
  std::size_t i = 0;
  std::size_t j = 0;
  std::uint64_t in_a = 0;  // elements of the current part already used
  std::uint64_t in_b = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].origin + in_a != b[j].origin + in_b) return false;
    const std::uint64_t count = std::min(a[i].count - in_a, b[j].count - in_b);
    append_part(both, {count, values.combine(a[i].value, b[j].value), a[i].origin + in_a});
    in_a += count;
    in_b += count;
    if (in_a == a[i].count) ++i, in_a = 0;
    if (in_b == b[j].count) ++j, in_b = 0;
  }
  a = std::move(both);
  return true;
}

}  // namespace telpher::coll
