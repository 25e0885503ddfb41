// SPDX-License-Identifier: BSD-3-Clause
// The clock of long waits: when a limit has passed, when it warns, and that progress restarts it.
#include "base/stall_clock.hpp"

#include "check.hpp"

namespace {

using telpher::duration_us;
using telpher::stall_clock;

// Polls that take 100 us each, until the clock answers.
template <class Ask>
double seconds_until(stall_clock& c, Ask&& ask) {
  for (int polls = 0; polls < 10'000; ++polls) {
    const timespec nap{0, 100'000};
    nanosleep(&nap, nullptr);
    if (ask(c)) return c.seconds();
  }
  return -1;
}

double seconds_until_warning(stall_clock& c) {
  return seconds_until(c, [](stall_clock& own) { return own.warns(); });
}

TEST_CASE(a_limit_passes_and_progress_restarts_it) {
  constexpr duration_us limit{20'000};
  stall_clock c;
  for (int times = 0; times < 2; ++times) {
    CHECK(!c.expired(limit));
    CHECK(seconds_until(c, [&](stall_clock& own) { return own.expired(limit); }) > 0.02);
    c.moved();
    CHECK_EQ(c.polls(), 0u);
  }
}

TEST_CASE(each_warning_comes_when_the_wait_is_twice_as_long) {
  const telpher::scoped_settings soon({"TELPHER_STALL_WARNING=10ms"});
  stall_clock c;
  for (int times = 0; times < 2; ++times) {
    CHECK(seconds_until_warning(c) >= 0.01);
    CHECK(seconds_until_warning(c) >= 0.02);
    CHECK(seconds_until_warning(c) >= 0.04);
    c.moved();
  }
}

}  // namespace
