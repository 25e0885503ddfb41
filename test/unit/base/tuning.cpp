// SPDX-License-Identifier: BSD-3-Clause
// Tuned tables: what is read, what is refused and why, and that settings of a table are defaults:
// what the environment names stays (CMakeLists.txt gives this process TELPHER_BATCH_LIMIT=1m).
#include "base/tuning.hpp"

#include <cstdio>
#include <string>

#include "base/settings.hpp"
#include "check.hpp"

namespace tuning = telpher::tuning;

namespace {

std::string sealed(const std::string& lines) {
  const std::string text = "telpher-table 1\n" + lines;
  char last[32];
  std::snprintf(last, sizeof last, "check %016llx\n",
                static_cast<unsigned long long>(tuning::sum_of(text)));
  return text + last;
}

/// Why it is refused, or "".
std::string refusal(const std::string& text) {
  tuning::table t;
  std::string why;
  return tuning::parse(text, t, why) ? "" : why;
}

bool says(const std::string& text, const char* part) {
  return refusal(text).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(a_table_is_read) {
  tuning::table t;
  std::string why;
  const std::string text = sealed(
      "# of people\nmachine telpher 0.1.0\nmachine device 8 x Name of it\nset mapped_limit 4k\n"
      "choice allreduce 65536 2 push packed\nchoice allreduce unlimited 4 builtin\n"
      "replay_choice bcast 64 2 push lines\nenqueued_choice scan unlimited 2 builtin\n");
  REQUIRE(tuning::parse(text, t, why));
  CHECK_EQ(t.machine.size(), 2u);
  CHECK_EQ(t.machine[1], "device 8 x Name of it");
  CHECK_EQ(t.settings.size(), 1u);
  REQUIRE(t.choices.size() == 4);
  CHECK(t.choices[0].of == tuning::calls::any);
  CHECK(t.choices[2].of == tuning::calls::replayed);
  CHECK_EQ(t.choices[2].transport, "lines");
  CHECK(t.choices[3].of == tuning::calls::enqueued);
  CHECK_EQ(t.choices[0].most_bytes, 65536u);
  CHECK_EQ(t.choices[0].transport, "packed");
  CHECK(t.choices[1].most_bytes == tuning::any_size);
  CHECK_EQ(t.choices[1].algorithm, "builtin");
  CHECK(t.mark > 0);
}

TEST_CASE(what_is_no_table_is_refused) {
  CHECK(says("", "does not begin"));
  CHECK(says("telpher-table 2\n", "does not begin"));
  CHECK(says("telpher-table 1\nset mapped_limit 4k\n", "damaged"));
  std::string damaged = sealed("set mapped_limit 4k\n");
  damaged[damaged.find("4k")] = '8';
  CHECK(says(damaged, "damaged"));
  CHECK(says(sealed("set mapped_limit 4k\n") + "set mapped_limit 8k\n", "damaged"));
}

TEST_CASE(lines_that_say_what_they_may_not_are_named) {
  CHECK(says(sealed("machine x\nset slots 16\n"), "line 3"));  // correctness depends on it
  CHECK(says(sealed("set mapped_limit 2g\n"), "line 2"));      // out of its range
  CHECK(says(sealed("set mapped_limit\n"), "line 2"));
  CHECK(says(sealed("choice allreduce many 2 push packed\n"), "line 2"));
  CHECK(says(sealed("choice allreduce 1 0 push packed\n"), "line 2"));
  CHECK(says(sealed("choice allreduce 1 2 push\n"), "line 2"));
  CHECK(says(sealed("choice allreduce 1 2 builtin packed\n"), "line 2"));
  CHECK(says(sealed("replay_choice allreduce 1 2 push\n"), "line 2"));
  CHECK(says(sealed("late_choice allreduce 1 2 push packed\n"), "line 2"));
  CHECK(says(sealed("do this\n"), "line 2"));
  CHECK(says(sealed("   \n"), "line 2"));
}

TEST_CASE(settings_of_a_table_are_defaults) {
  const std::size_t before = telpher::config().mapped_limit;
  tuning::table t;
  t.settings = {{"mapped_limit", "1k"}, {"batch_limit", "2m"}};
  t.mark = 5;
  tuning::put_in_force(t);
  CHECK_EQ(tuning::mark(), 5);
  CHECK_EQ(telpher::config().mapped_limit, 1024u);
  CHECK_EQ(telpher::config().batch_limit, std::size_t{1} << 20);
  tuning::drop();
  CHECK_EQ(tuning::mark(), 0);
  CHECK_EQ(telpher::config().mapped_limit, before);
  CHECK_EQ(telpher::config().batch_limit, std::size_t{1} << 20);
}
