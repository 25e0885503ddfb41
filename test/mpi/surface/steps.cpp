// SPDX-License-Identifier: BSD-3-Clause
#include "program.hpp"

namespace surface {

kind placing::of(int rank, int which) const {
  const std::vector<kind>& all = kinds();
  const kind device = all.back();
  const auto any = [&](std::uint64_t x) { return all[mix(seed_ + x) % all.size()]; };
  if (policy_ < 35) return device;
  if (policy_ < 60) return any(static_cast<std::uint64_t>(rank * 1000 + which));
  if (policy_ < 72) return rank % 2 == 0 ? device : kind::host;
  if (policy_ < 80) return which == 0 ? device : kind::host;
  if (policy_ < 88) return which == 0 ? kind::host : device;
  if (policy_ < 94) return any(0);
  return kind::host;
}

bool placing::without_device(int ranks) const {
  for (int r = 0; r < ranks; ++r)
    for (int which = 0; which < 2; ++which)
      if (of(r, which) == kind::device) return false;
  return true;
}

std::size_t step::add_area(std::vector<unsigned char> content, kind where) {
  areas.emplace_back();
  areas.back().before = std::move(content);
  areas.back().where = where;
  return areas.size() - 1;
}

std::size_t step::add_area(const span& bytes, kind where, std::uint64_t id) {
  std::vector<unsigned char> content(bytes.bytes());
  write_pattern(id, content.data(), content.size());
  const std::size_t made = add_area(std::move(content), where);
  areas[made].low = bytes.low;
  return made;
}

}  // namespace surface
