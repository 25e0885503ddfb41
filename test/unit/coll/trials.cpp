// SPDX-License-Identifier: BSD-3-Clause
// A schedule or staging by their times: both are tried in turn, the faster is kept, a slow call
// changes nothing, and a way that never came to an end is not taken.
#include "coll/between/trials.hpp"

#include <algorithm>

#include "check.hpp"
#include "coll/stopwatch.hpp"

using telpher::coll::stopwatch;
using telpher::coll::between::trials;
using way = trials::way;

namespace {

constexpr int of_each = 3, trial_calls = 2 * of_each;

void learn(trials& t, way w, std::int64_t ns) {
  std::int64_t& best = t.best(w);
  best = best == 0 ? ns : std::min(best, ns);
}

/// As one rank alone does it; the times of a way by the number of its call.
template <class Schedule, class Staged>
void make_calls(trials& t, Schedule schedule, Staged staged) {
  for (int i = 0; i < trial_calls; ++i) {
    const way w = t.next(t.best());
    CHECK(w == (i % 2 ? way::staged : way::schedule));
    CHECK(!t.chosen());
    learn(t, w, w == way::staged ? staged(i / 2) : schedule(i / 2));
  }
}

}  // namespace

TEST_CASE(both_ways_are_tried_in_turn_and_the_faster_is_kept) {
  for (const bool schedule_is_faster : {true, false}) {
    trials t;
    make_calls(
        t, [](int i) { return i == 0 ? 9000 : 100; },
        [&](int i) { return i == 1               ? 50000
                            : schedule_is_faster ? 101
                                                 : 99; });
    const way kept = schedule_is_faster ? way::schedule : way::staged;
    CHECK(t.next(t.best()) == kept);
    CHECK(t.next({1, 2}) == kept && t.next({2, 1}) == kept);
  }
}

TEST_CASE(the_slowest_ranks_times_count) {
  trials t;
  make_calls(
      t, [](int) { return 100; }, [](int) { return 200; });
  CHECK(t.next({300, 200}) == way::staged);
  CHECK(t.next({1, 200}) == way::staged);  // once chosen, it stays
}

TEST_CASE(a_way_that_never_ended_is_not_taken) {
  trials without_schedule, without_staging;
  for (int i = 0; i < trial_calls; ++i) {
    static_cast<void>(without_schedule.next({}));
    static_cast<void>(without_staging.next({}));
  }
  CHECK(without_schedule.next({0, 200}) == way::staged);
  CHECK(without_staging.next({200, 0}) == way::schedule);
}

TEST_CASE(a_stopwatch_keeps_the_shortest_time) {
  std::int64_t least = 0;
  stopwatch(least, telpher::now_ns() - 5000).stop();
  CHECK(least >= 5000);
  const std::int64_t first = least;
  stopwatch(least, telpher::now_ns() - 1000000000).stop();
  CHECK_EQ(least, first);
  stopwatch().stop();  // nobody asked
}
