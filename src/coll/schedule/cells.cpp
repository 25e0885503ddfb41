// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes of one space, with the rules of schedule.hpp about spans and order.
#include "coll/schedule/cells.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace telpher::coll {
namespace {

std::string text_of(std::uint64_t offset, std::uint64_t count) {
  return "[" + std::to_string(offset) + ", " + std::to_string(offset + count) + ")";
}

bool overlap(std::uint64_t a, std::uint64_t a_count, std::uint64_t b, std::uint64_t b_count) {
  return a < b + b_count && b < a + a_count;
}

}  // namespace

std::map<std::uint64_t, cells::cell>::const_iterator cells::holding(std::uint64_t offset) const {
  auto next = cells_.upper_bound(offset);
  if (next == cells_.begin()) return cells_.end();
  --next;
  return offset < next->first + next->second.count ? next : cells_.end();
}

symbol cells::read(std::uint64_t offset, std::uint64_t count, const access& by,
                   const ordered& before, std::string& error) {
  const auto found = holding(offset);
  if (found == cells_.end() || offset + count > found->first + found->second.count) {
    error = "reads " + text_of(offset, count) + ", of which not all was written by one step";
    return {};
  }
  cell& from = cells_[found->first];
  if (!from.initial()) {
    if (found->first != offset || from.count != count)
      error = "reads " + text_of(offset, count) + " of what was written as " +
              text_of(found->first, from.count) + ": slices would differ";
    else if (!before(from.writer))
      error = "reads " + text_of(offset, count) + " in a race with the write of rank " +
              std::to_string(from.writer.rank);
  }
  from.readings.push_back({offset, count, by});
  return {from.content.value, from.content.origin + (offset - found->first)};
}

std::string cells::check_overwritten(std::uint64_t at, const cell& old, const reading& fresh,
                                     const ordered& before) const {
  const std::string what = "writes " + text_of(fresh.offset, fresh.count);
  if (!old.initial()) {
    if (at != fresh.offset || old.count != fresh.count)
      return what + " over what was written as " + text_of(at, old.count) + ": slices would differ";
    if (!before(old.writer))
      return what + " in a race with the write of rank " + std::to_string(old.writer.rank);
  }
  for (const reading& r : old.readings) {
    if (!overlap(r.offset, r.count, fresh.offset, fresh.count)) continue;
    if (r.offset != fresh.offset || r.count != fresh.count)
      return what + " over what was read as " + text_of(r.offset, r.count) +
             ": slices would differ";
    if (!before(r.by))
      return what + " in a race with the read of rank " + std::to_string(r.by.rank);
  }
  return {};
}

void cells::keep_rest(std::uint64_t at, const cell& old, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  cell rest = {.count = end - begin,
               .content = {old.content.value, old.content.origin + (begin - at)}};
  std::copy_if(old.readings.begin(), old.readings.end(), std::back_inserter(rest.readings),
               [&](const reading& r) { return overlap(r.offset, r.count, begin, end - begin); });
  cells_[begin] = std::move(rest);
}

std::string cells::write(std::uint64_t offset, std::uint64_t count, symbol content,
                         const access& by, const ordered& before) {
  auto at = cells_.upper_bound(offset);
  if (at != cells_.begin() && offset < std::prev(at)->first + std::prev(at)->second.count) --at;
  while (at != cells_.end() && at->first < offset + count) {
    const auto [begin, old] = std::move(*at);
    if (auto error = check_overwritten(begin, old, {offset, count, by}, before); !error.empty())
      return error;
    at = cells_.erase(at);
    keep_rest(begin, old, begin, std::min(offset, begin + old.count));
    keep_rest(begin, old, std::max(begin, offset + count), begin + old.count);
  }
  cells_[offset] = {.count = count, .content = content, .writer = by};
  return {};
}

}  // namespace telpher::coll
