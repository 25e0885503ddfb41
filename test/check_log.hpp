// SPDX-License-Identifier: BSD-3-Clause
// Makes a test case fail when it logs a warning or an error that it did not announce with
// check::expect_log("part of the text"), and when an announced line does not come. Needs
// telpher_base.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "check.hpp"

namespace check {

struct log_watch {
  std::mutex lock;
  std::vector<std::string> lines;
  std::vector<std::string> expected;
};

inline log_watch& watched_log() {
  static log_watch one;
  return one;
}

inline void expect_log(const std::string& part) {
  const std::lock_guard guard(watched_log().lock);
  watched_log().expected.push_back(part);
}

inline void judge_log() {
  auto& [lock, lines, expected] = watched_log();
  const std::lock_guard guard(lock);
  const auto holds = [](const std::string& line, const std::string& part) {
    return line.find(part) != std::string::npos;
  };
  for (const std::string& line : lines)
    if (std::none_of(expected.begin(), expected.end(),
                     [&](const std::string& part) { return holds(line, part); }))
      fail("log", 0, "unexpected line: " + line);
  for (const std::string& part : expected)
    if (std::none_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return holds(line, part); }))
      fail("log", 0, "no line with: " + part);
  lines.clear();
  expected.clear();
}

inline const bool log_is_watched = [] {
  ::telpher::log::observe([](::telpher::log::level, const char* text) {
    const std::lock_guard guard(watched_log().lock);
    watched_log().lines.emplace_back(text);
  });
  after_each().push_back(judge_log);
  return true;
}();

}  // namespace check
