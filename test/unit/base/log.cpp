// SPDX-License-Identifier: BSD-3-Clause
// The log's line format, its threshold, its file and its observer.
#include "base/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "check.hpp"

namespace log_ns = telpher::log;

namespace {

std::string observed;

std::string folder() {
  static std::string path = [] {
    char name[] = "/tmp/telpher-log-XXXXXX";
    return std::string(::mkdtemp(name));
  }();
  return path;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

int argument_evaluated() {
  static int count = 0;
  return ++count;
}

}  // namespace

TEST_CASE(lines_carry_rank_subsystem_and_level) {
  const std::string path = folder() + "/plain";
  log_ns::configure(log_ns::level::debug, path.c_str());
  TELPHER_INFO("before a rank is known");
  log_ns::set_rank(3, 8);
  TELPHER_DEBUG("bytes %d", 4096);
  TELPHER_TRACE("below the threshold");
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK_EQ(lines[0], "[telpher -/- telpher info] before a rank is known");
  CHECK_EQ(lines[1], "[telpher 3/8 telpher debug] bytes 4096");
  ::unlink(path.c_str());
}

// A program that closes a descriptor it did not open may get the number for a file of its own.
TEST_CASE(a_file_of_the_program_gets_no_lines) {
  const std::string path = folder() + "/closed", others = folder() + "/others";
  log_ns::configure(log_ns::level::warn, path.c_str());
  TELPHER_WARN("first");
  int closed = 0;
  for (int number = 3; number < 1024; ++number) {
    char target[512] = "";
    (void)!::readlink(("/proc/self/fd/" + std::to_string(number)).c_str(), target, 511);
    if (path != target) continue;
    const int own = ::open(others.c_str(), O_WRONLY | O_CREAT, 0600);
    REQUIRE(::dup2(own, number) == number);
    ::close(own);
    ++closed;
  }
  CHECK_EQ(closed, 1);
  TELPHER_WARN("second");
  CHECK_EQ(lines_of(others).size(), 0);
  CHECK_EQ(lines_of(path).size(), 2);
  ::unlink(path.c_str());
  ::unlink(others.c_str());
}

TEST_CASE(a_file_pattern_takes_the_rank) {
  log_ns::configure(log_ns::level::warn, (folder() + "/rank-%r").c_str());
  log_ns::set_rank(5, 8);
  TELPHER_WARN("here");
  const auto lines = lines_of(folder() + "/rank-5");
  REQUIRE(lines.size() == 1);
  CHECK_EQ(lines[0], "[telpher 5/8 telpher warn] here");
  ::unlink((folder() + "/rank-5").c_str());
}

TEST_CASE(arguments_below_the_threshold_are_not_evaluated) {
  log_ns::threshold.store(log_ns::level::warn);
  TELPHER_DEBUG("%d", argument_evaluated());
  CHECK_EQ(argument_evaluated(), 1);
}

TEST_CASE(the_observer_sees_warnings_only) {
  log_ns::threshold.store(log_ns::level::info);
  log_ns::observe([](log_ns::level, const char* text) { observed += text; });
  const unsigned long before = log_ns::warnings();
  TELPHER_INFO("quiet");
  TELPHER_WARN("loud");
  log_ns::observe(nullptr);
  TELPHER_WARN("unseen");
  CHECK_EQ(observed, "loud");
  CHECK_EQ(log_ns::warnings() - before, 2);
}

TEST_CASE(a_long_line_is_cut_and_stays_one_line) {
  const std::string path = folder() + "/long";
  log_ns::configure(log_ns::level::info, path.c_str());
  TELPHER_INFO("%s", std::string(10000, 'x').c_str());
  TELPHER_INFO("next");
  const auto lines = lines_of(path);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() > 1000 && lines[0].size() < 2048);
  ::unlink(path.c_str());
  ::rmdir(folder().c_str());
}
