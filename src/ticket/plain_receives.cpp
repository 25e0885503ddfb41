// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/plain_receives.hpp"

#include <bit>

namespace telpher::ticket {

// The class's bit is kept when its last receive ends, because the next one mostly comes soon. It is
// taken back when a ticket is wanted.
bool plain_receives::give_way(int tag) noexcept {
  if (under_way_[index(tag)] == 0) peers_.own().end_plain(tag);
  return false;
}

void plain_receives::expect_tickets(int tag) noexcept {
  if (tag >= 0) return static_cast<void>(give_way(tag));
  for (std::uint64_t classes = peers_.own().plain_tags(); classes != 0; classes &= classes - 1)
    give_way(std::countr_zero(classes));
}

// Makes the hull as small as it can be.
bool plain_receives::some_write_to(const written_ranges::range& r) noexcept {
  bool found = false;
  written_ranges::range all;
  requests_.for_each([&](const one& p) {
    found |= p.range.first < r.end && r.first < p.range.end;
    all = hull_of(all, p.range);
  });
  hull_ = all;
  return found;
}

void plain_receives::forget_all() noexcept {
  requests_.clear();
  under_way_ = {};
}

}  // namespace telpher::ticket
