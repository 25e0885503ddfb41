// SPDX-License-Identifier: BSD-3-Clause
// The settings: every form of value, what is refused, and the name proposed for a misspelt
// variable. The process's own environment (see CMakeLists.txt) has one valid and one misspelt
// variable.
#include "base/settings.hpp"

#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "check.hpp"

using telpher::setting_problem;
using telpher::settings;

namespace {

struct parsed {
  settings values;
  std::vector<setting_problem> problems;
};

parsed parse(const std::vector<std::string>& environment) {
  parsed p;
  p.values = telpher::parse_settings(environment, p.problems);
  return p;
}

bool mentions(const std::vector<setting_problem>& problems, const std::string& part, bool fatal) {
  for (const setting_problem& one : problems)
    if (one.text.find(part) != std::string::npos && one.fatal == fatal) return true;
  return false;
}

}  // namespace

TEST_CASE(defaults_are_valid) {
  const parsed p = parse({});
  CHECK(p.problems.empty());
  CHECK_EQ(p.values.eager_limit, 16384);
  CHECK(p.values.log == "warn");
  CHECK(p.values.enable);
  CHECK_EQ(p.values.ipc_cache_bytes, std::size_t{256} << 30);
}

TEST_CASE(every_default_is_within_its_range) {
  std::vector<std::string> environment;
  for (const auto& row : telpher::setting_rows()) {
    std::string variable = "TELPHER_";
    for (const char* c = row.name; *c; ++c) variable += static_cast<char>(std::toupper(*c));
    environment.push_back(variable + "=" + row.default_text);
  }
  const parsed p = parse(environment);
  for (const auto& problem : p.problems) CHECK_EQ(problem.text, "");
}

TEST_CASE(values_of_another_rank_are_adopted) {
  const telpher::scoped_settings restored({});
  std::string first;
  {
    const telpher::scoped_settings there(
        {"TELPHER_COLL=staged", "TELPHER_COLL_INBOX=64k", "TELPHER_EAGER_LIMIT=1k"});
    first = telpher::job_settings();
  }
  {
    const telpher::scoped_settings same(
        {"TELPHER_COLL_INBOX=65536", "TELPHER_COLL=staged", "TELPHER_EAGER_LIMIT=2k"});
    CHECK(telpher::job_settings() == first);
    CHECK(telpher::adopt_job_settings(first).empty());
  }
  const telpher::scoped_settings here({"TELPHER_SLOTS=64", "TELPHER_COLL_INBOX=2m"});
  const auto replaced = telpher::adopt_job_settings(first);
  REQUIRE(replaced.size() == 3);
  CHECK_EQ(replaced[0].variable, "TELPHER_SLOTS");
  CHECK_EQ(replaced[0].here, "64");
  CHECK_EQ(replaced[0].there, "1024");
  CHECK_EQ(replaced[1].variable, "TELPHER_COLL");
  CHECK_EQ(replaced[2].variable, "TELPHER_COLL_INBOX");
  CHECK(replaced[2].index < telpher::job_setting_count());
  CHECK_EQ(telpher::config().slots, 1024);
  CHECK(telpher::config().coll == "staged");
  CHECK_EQ(telpher::config().coll_inbox, 65536);
  CHECK_EQ(telpher::config().eager_limit, 16384);
  CHECK(telpher::job_settings() == first);
}

TEST_CASE(sizes_take_units) {
  CHECK_EQ(parse({"TELPHER_EAGER_LIMIT=1k"}).values.eager_limit, 1024);
  CHECK_EQ(parse({"TELPHER_EAGER_LIMIT=1.5K"}).values.eager_limit, 1536);
  CHECK_EQ(parse({"TELPHER_BATCH_LIMIT=2m"}).values.batch_limit, 2 << 20);
  CHECK_EQ(parse({"TELPHER_BATCH_LIMIT=1gb"}).values.batch_limit, 1 << 30);
  CHECK_EQ(parse({"TELPHER_BATCH_LIMIT=512"}).values.batch_limit, 512);
}

TEST_CASE(durations_need_units) {
  CHECK_EQ(parse({"TELPHER_EAGER_PATIENCE=20us"}).values.eager_patience.value, 20.0);
  CHECK_EQ(parse({"TELPHER_EAGER_PATIENCE=1.5ms"}).values.eager_patience.value, 1500.0);
  CHECK_EQ(parse({"TELPHER_EAGER_PATIENCE=500ns"}).values.eager_patience.value, 0.5);
  CHECK_EQ(parse({"TELPHER_EAGER_PATIENCE=2s"}).values.eager_patience.value, 2e6);
  CHECK(mentions(parse({"TELPHER_EAGER_PATIENCE=20"}).problems, "TELPHER_EAGER_PATIENCE=20", true));
}

TEST_CASE(booleans_take_many_words) {
  for (const char* yes : {"1", "on", "YES", "true", "y"})
    CHECK(parse({std::string("TELPHER_EXPLAIN=") + yes}).values.explain);
  for (const char* no : {"0", "off", "No", "false", "n"})
    CHECK(!parse({std::string("TELPHER_ENABLE=") + no}).values.enable);
  CHECK(mentions(parse({"TELPHER_EXPLAIN=maybe"}).problems, "boolean", true));
}

TEST_CASE(a_value_out_of_range_is_refused_and_the_default_kept) {
  const parsed p = parse({"TELPHER_SLOTS=3"});
  CHECK(mentions(p.problems, "16..65536", true));
  CHECK_EQ(p.values.slots, 1024);
  CHECK(!parse({"TELPHER_EAGER_LIMIT=65k"}).problems.empty());
  CHECK(parse({"TELPHER_EAGER_LIMIT=64k"}).problems.empty());
}

TEST_CASE(a_value_that_is_no_number_is_refused) {
  for (const char* bad : {"TELPHER_EAGER_LIMIT=", "TELPHER_EAGER_LIMIT=x", "TELPHER_EAGER_LIMIT=4q",
                          "TELPHER_EAGER_LIMIT=-1", "TELPHER_EAGER_LIMIT=nan", "TELPHER_SLOTS=64x",
                          "TELPHER_SLOTS=", "TELPHER_BATCH_LIMIT=1e300"}) {
    const parsed p = parse({bad});
    CHECK_EQ(p.problems.size(), 1);
    CHECK(mentions(p.problems, bad, true));
  }
}

TEST_CASE(choices_are_listed_when_one_is_wrong) {
  const parsed p = parse({"TELPHER_PATH=ipcget"});
  CHECK(mentions(p.problems, "auto|mapped|raw", true));
  CHECK(p.values.path == "auto");
  CHECK(parse({"TELPHER_PATH=ipc_get"}).values.path == "ipc_get");
  CHECK(!parse({"TELPHER_PATH=ipc"}).problems.empty());
}

TEST_CASE(a_word_may_be_a_name) {
  CHECK(parse({}).values.ccl == "auto");
  const parsed word = parse({"TELPHER_CCL=off"}), name = parse({"TELPHER_CCL=libother.so"});
  CHECK(word.problems.empty() && name.problems.empty());
  CHECK(word.values.ccl == "off");
  CHECK(!(name.values.ccl == "auto") && !(name.values.ccl == "on") && !(name.values.ccl == "off"));
  CHECK_EQ(name.values.ccl.text(), "libother.so");
}

TEST_CASE(knobs_of_tests_have_a_namespace_of_their_own) {
  for (const auto& row : telpher::setting_rows())
    CHECK_EQ(row.who == telpher::audience::tests, std::string(row.name).starts_with("test_"));
}

TEST_CASE(a_table_may_set_what_was_measured) {
  CHECK(telpher::is_measured("mapped_limit"));
  CHECK(!telpher::is_measured("slots"));
  CHECK(!telpher::is_measured("no_such_setting"));
}

TEST_CASE(an_unknown_variable_is_a_warning_with_the_nearest_name) {
  CHECK(
      mentions(parse({"TELPHER_EAGER_LIMT=1k"}).problems, "nearest is TELPHER_EAGER_LIMIT", false));
  CHECK(mentions(parse({"TELPHER_BACKED=emu"}).problems, "nearest is TELPHER_BACKEND", false));
  CHECK(mentions(parse({"TELPHER_LOGFILE=x"}).problems, "nearest is TELPHER_LOG_FILE", false));
}

TEST_CASE(what_the_launcher_sets_is_not_unknown) {
  CHECK(parse({"TELPHER_LAUNCHED=mpich", "TELPHER_HOME=/x", "TELPHER_PRELOAD=/x.so"})
            .problems.empty());
}

TEST_CASE(a_longer_name_does_not_shadow_a_shorter_one) {
  const parsed p = parse({"TELPHER_LOG_FILE=/dev/null", "TELPHER_LOG=info"});
  CHECK(p.values.log == "info");
  CHECK_EQ(p.values.log_file, "/dev/null");
}

TEST_CASE(the_environment_is_read_once) {
  CHECK_EQ(telpher::config().eager_limit, 32768);
  CHECK_EQ(telpher::log::threshold.load(), telpher::log::level::error);
  ::setenv("TELPHER_EAGER_LIMIT", "1k", 1);
  CHECK_EQ(telpher::config().eager_limit, 32768);
  CHECK(mentions(telpher::setting_problems(), "TELPHER_EAGER_LIMIT", false));
}

TEST_CASE(rows_say_where_a_value_comes_from) {
  ::setenv("TELPHER_EAGER_LIMIT", "32k", 1);
  for (const auto& row : telpher::setting_rows()) {
    const bool ours = std::string(row.name) == "eager_limit";
    const bool logs = std::string(row.name) == "log";
    CHECK_EQ(row.from_environment, ours || logs);
    if (ours) CHECK_EQ(row.value, "32k");
  }
}

TEST_CASE(rows_of_refused_values_say_what_is_in_force) {
  ::setenv("TELPHER_SLOTS", "abc", 1);
  for (const auto& row : telpher::setting_rows()) {
    if (std::string(row.name) != "slots") continue;
    CHECK_EQ(row.value, "1024");
    CHECK(!row.from_environment);
  }
  ::unsetenv("TELPHER_SLOTS");
}

TEST_CASE(scoped_settings_are_put_back) {
  {
    const telpher::scoped_settings other({"TELPHER_EAGER_LIMIT=2k"});
    CHECK_EQ(telpher::config().eager_limit, 2048);
  }
  CHECK_EQ(telpher::config().eager_limit, 32768);
}
