// SPDX-License-Identifier: BSD-3-Clause
// The choice between two ways by their cost: both are tried, the cheaper is kept, size classes are
// independent, and one slow thing that went the cheaper way changes nothing.
#include "path/measured_choice.hpp"

#include "check.hpp"

using telpher::path::choices_by_size;
using telpher::path::measured_choice;

namespace {

constexpr int trials = measured_choice::trials;

/// Does things one after the other; returns how many went the second way.
int second_ways(measured_choice& c, int things, double cost_first, double cost_second) {
  int n = 0;
  for (int i = 0; i < things; ++i) {
    const auto way = c.next();
    n += way == measured_choice::second;
    c.learn(way, way == measured_choice::first ? cost_first : cost_second);
  }
  return n;
}

}  // namespace

TEST_CASE(both_ways_are_tried_and_the_cheaper_is_kept) {
  measured_choice c;
  CHECK_EQ(second_ways(c, 2 * trials - 1, 900, 1000), trials - 1);
  CHECK(!c.chosen());
  CHECK_EQ(second_ways(c, 1, 900, 1000), 1);
  CHECK(c.chosen() == measured_choice::first);
  CHECK_EQ(second_ways(c, 100, 900, 1000), 0);
  measured_choice d;
  CHECK_EQ(second_ways(d, 2 * trials + 100, 1000, 900), trials + 100);
  CHECK_EQ(d.least(measured_choice::first), 1000);
  CHECK_EQ(d.least(measured_choice::second), 900);
}

TEST_CASE(size_classes_are_apart) {
  constexpr std::size_t small = 10000, large = std::size_t{4} << 20;
  choices_by_size c;
  second_ways(c.of(large), 100, 1000, 900);
  second_ways(c.of(small), 100, 10, 20);
  CHECK_EQ(second_ways(c.of(large), 10, 1000, 900), 10);
  CHECK_EQ(second_ways(c.of(small), 10, 10, 20), 0);
}

TEST_CASE(what_has_waited_changes_nothing) {
  measured_choice c;
  second_ways(c, 100, 1000, 900);
  c.learn(measured_choice::second, 1000000000);
  CHECK_EQ(second_ways(c, 10, 1000, 900), 10);
}

TEST_CASE(what_has_not_ended_is_spread_over_both) {
  measured_choice c;
  int n = 0;
  for (int i = 0; i < 50; ++i) n += c.next() == measured_choice::second;
  CHECK_EQ(n, 25);
}
