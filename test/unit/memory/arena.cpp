// SPDX-License-Identifier: BSD-3-Clause
// Pieces never overlap, all can be returned, and free neighbours are merged.
#include "memory/arena.hpp"

#include <random>
#include <vector>

#include "check.hpp"

using telpher::memory::arena;

namespace {
constexpr std::uint64_t first = 1 << 20, bytes = 64 * 4096;
}

TEST_CASE(an_empty_arena_gives_nothing) {
  arena none;
  CHECK(!none.take(1).has_value());
}

TEST_CASE(all_of_it_and_no_more) {
  arena a(first, bytes);
  CHECK(!a.take(bytes + 1).has_value());
  const auto all = a.take(bytes);
  REQUIRE(all.has_value());
  CHECK_EQ(*all, first);
  CHECK(!a.take(1).has_value());
  a.give(*all, bytes);
  CHECK(a.take(bytes).has_value());
}

TEST_CASE(neighbours_merge_in_any_order) {
  for (int order = 0; order < 6; ++order) {
    arena a(first, 3 * 4096);
    const std::uint64_t piece[3] = {*a.take(1), *a.take(4096), *a.take(4095)};
    const int at = order / 2, then = (at + 1 + order % 2) % 3;
    a.give(piece[at], 1);
    a.give(piece[then], 4000);
    a.give(piece[3 - at - then], 4096);
    CHECK(a.take(3 * 4096).has_value());
  }
}

TEST_CASE(random_pieces_do_not_overlap) {
  struct piece {
    std::uint64_t at, bytes;
  };
  arena a(first, bytes);
  std::vector<piece> held;
  std::mt19937 random(1);
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 && !held.empty()) {
      const std::size_t i = random() % held.size();
      a.give(held[i].at, held[i].bytes);
      held[i] = held.back();
      held.pop_back();
      continue;
    }
    const std::uint64_t n = 1 + random() % 30000;
    const auto at = a.take(n);
    if (!at) continue;
    CHECK(*at >= first && *at + n <= first + bytes);
    for (const piece& p : held) CHECK(*at + n <= p.at || p.at + p.bytes <= *at);
    held.push_back({*at, n});
  }
  for (const piece& p : held) a.give(p.at, p.bytes);
  CHECK(a.take(bytes).has_value());
}
