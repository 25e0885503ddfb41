// SPDX-License-Identifier: BSD-3-Clause
// Reads and writes of one space, with the rules of schedule.hpp about spans and order.
#include "schedules/cells.hpp"

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

std::string cells::check_read(const cell& from, const reading& fresh, const ordered& before) {
  if (from.initial()) return {};
  const std::string what = "reads " + text_of(fresh.offset, fresh.count);
  const order lies = before(from.writer);
  if (lies == order::none)
    return what + " in a race with the write of rank " + std::to_string(from.writer.rank);
  const bool same = from.written_offset == fresh.offset && from.written_count == fresh.count;
  if (lies == order::sliced && !same)
    return what + " of what was written as " + text_of(from.written_offset, from.written_count) +
           ": slices would differ";
  return {};
}

std::string cells::read(std::uint64_t offset, std::uint64_t count, content& found, const access& by,
                        const ordered& before) {
  std::uint64_t at = offset;
  while (at < offset + count) {
    const auto here = holding(at);
    if (here == cells_.end())
      return "reads " + text_of(offset, count) + ", of which not all was written";
    cell& from = cells_[here->first];
    if (auto error = check_read(from, {offset, count, by}, before); !error.empty()) return error;
    from.readings.push_back({offset, count, by});
    const std::uint64_t end = std::min(here->first + from.count, offset + count);
    append(found, from.holds, at - here->first, end - at);
    at = end;
  }
  return {};
}

std::string cells::check_overwritten(const cell& old, const reading& fresh, const ordered& before) {
  const std::string what = "writes " + text_of(fresh.offset, fresh.count);
  const auto check = [&](const reading& earlier, const char* verb) -> std::string {
    const order lies = before(earlier.by);
    if (lies == order::none)
      return what + " in a race with rank " + std::to_string(earlier.by.rank) + ", which " + verb +
             " it";
    const bool same = earlier.offset == fresh.offset && earlier.count == fresh.count;
    if (lies == order::sliced && !same)
      return what + " over what was " + verb + " as " + text_of(earlier.offset, earlier.count) +
             ": slices would differ";
    return {};
  };
  if (!old.initial())
    if (auto error = check({old.written_offset, old.written_count, old.writer}, "written");
        !error.empty())
      return error;
  for (const reading& r : old.readings) {
    if (!overlap(r.offset, r.count, fresh.offset, fresh.count)) continue;
    if (auto error = check(r, "read"); !error.empty()) return error;
  }
  return {};
}

void cells::keep_rest(std::uint64_t at, const cell& old, std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  cell rest = {.count = end - begin,
               .writer = old.writer,
               .written_offset = old.written_offset,
               .written_count = old.written_count};
  append(rest.holds, old.holds, begin - at, end - begin);
  std::copy_if(old.readings.begin(), old.readings.end(), std::back_inserter(rest.readings),
               [&](const reading& r) { return overlap(r.offset, r.count, begin, end - begin); });
  cells_[begin] = std::move(rest);
}

std::string cells::write(std::uint64_t offset, std::uint64_t count, content holds, const access& by,
                         const ordered& before) {
  auto at = cells_.upper_bound(offset);
  if (at != cells_.begin() && offset < std::prev(at)->first + std::prev(at)->second.count) --at;
  while (at != cells_.end() && at->first < offset + count) {
    const std::uint64_t begin = at->first;
    if (auto error = check_overwritten(at->second, {offset, count, by}, before); !error.empty())
      return error;
    const cell old = std::move(at->second);
    at = cells_.erase(at);
    keep_rest(begin, old, begin, std::min(offset, begin + old.count));
    keep_rest(begin, old, std::max(begin, offset + count), begin + old.count);
  }
  cells_[offset] = {.count = count,
                    .holds = std::move(holds),
                    .writer = by,
                    .written_offset = offset,
                    .written_count = count};
  return {};
}

}  // namespace telpher::coll
