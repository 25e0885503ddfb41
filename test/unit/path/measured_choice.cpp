// SPDX-License-Identifier: BSD-3-Clause
// The choice between two ways by their cost: both are tried, the faster is kept, size classes are
// independent, and one slow message of the faster way changes nothing.
#include "path/measured_choice.hpp"

#include "check.hpp"

using telpher::path::measured_choice;

namespace {

constexpr std::size_t small = 10000, large = std::size_t{4} << 20;

/// Sends messages one after the other; returns how many went the second way.
int second_ways(measured_choice& c, std::size_t bytes, int messages, std::uint64_t ns_first,
                std::uint64_t ns_second) {
  int n = 0;
  for (int i = 0; i < messages; ++i) {
    const auto way = c.next(bytes);
    n += way == measured_choice::second;
    c.learn(bytes, way, way == measured_choice::first ? ns_first : ns_second);
  }
  return n;
}

}  // namespace

TEST_CASE(both_ways_are_tried_and_the_faster_is_kept) {
  constexpr int trials = measured_choice::trials;
  measured_choice c;
  CHECK_EQ(second_ways(c, large, 2 * trials, 900, 1000), trials);
  CHECK_EQ(second_ways(c, large, 100, 900, 1000), 0);
  measured_choice d;
  CHECK_EQ(second_ways(d, large, 2 * trials + 100, 1000, 900), trials + 100);
}

TEST_CASE(size_classes_are_apart) {
  measured_choice c;
  second_ways(c, large, 100, 1000, 900);
  second_ways(c, small, 100, 10, 20);
  CHECK_EQ(second_ways(c, large, 10, 1000, 900), 10);
  CHECK_EQ(second_ways(c, small, 10, 10, 20), 0);
}

TEST_CASE(a_message_that_waited_changes_nothing) {
  measured_choice c;
  second_ways(c, large, 100, 1000, 900);
  c.learn(large, measured_choice::second, 1000000000);
  CHECK_EQ(second_ways(c, large, 10, 1000, 900), 10);
}

TEST_CASE(messages_that_have_not_ended_are_spread_over_both) {
  measured_choice c;
  int n = 0;
  for (int i = 0; i < 50; ++i) n += c.next(large) == measured_choice::second;
  CHECK_EQ(n, 25);
}
