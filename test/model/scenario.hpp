// SPDX-License-Identifier: BSD-3-Clause
// How the tests of the checker's scenarios report: a protocol must hold in every run, and a defect
// put into it must be found.
#pragma once

#include "check.hpp"
#include "checker.hpp"

namespace model {

/// The end of a trace, which is where it went wrong.
inline std::string end_of(const std::string& trace) {
  std::size_t at = trace.size();
  for (int lines = 0; at > 0 && lines < 40; ++lines)
    at = trace.rfind('\n', at - 1) + 1, at -= at > 0;
  return trace.substr(at);
}

inline void holds(const char* name, const options& how, const std::function<void(world&)>& make) {
  const outcome o = explore(how, make);
  std::printf("  %s: %llu runs\n", name, static_cast<unsigned long long>(o.runs));
  std::fflush(stdout);
  if (!o.error.empty())
    check::fail(__FILE__, __LINE__, std::string(name) + ": " + o.error + "\n" + end_of(o.trace));
  else if (!o.complete)
    check::fail(__FILE__, __LINE__, std::string(name) + ": too many runs");
}

/// The same with a defect: what the checker says of it must not be nothing.
inline void finds(const char* name, const options& how, const std::function<void(world&)>& make) {
  const outcome o = explore(how, make);
  const std::string what =
      how.where.empty() ? name : std::string(name) + ", " + how.where + " " + to_string(how.what);
  std::printf("  %s: %s after %llu runs\n", what.c_str(),
              o.error.empty() ? "nothing" : o.error.c_str(),
              static_cast<unsigned long long>(o.runs));
  std::fflush(stdout);
  if (o.error.empty()) check::fail(__FILE__, __LINE__, what + " was not found");
}

struct defect {
  const char* where;
  mutation what;
};

inline void finds_all(const char* name, options how, const std::function<void(world&)>& make,
                      std::initializer_list<defect> defects) {
  for (const defect& d : defects) {
    how.where = d.where;
    how.what = d.what;
    finds(name, how, make);
  }
}

}  // namespace model
