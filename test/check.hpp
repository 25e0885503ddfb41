// SPDX-License-Identifier: BSD-3-Clause
// The test harness: enough for every ring, on a machine with nothing but a compiler.
//   TEST_CASE(copies_zero_bytes) { CHECK(x); CHECK_EQ(a, b); REQUIRE(p); }
// A case goes on after a failed CHECK and ends at a failed REQUIRE. The program runs all cases, or
// those named on its command line, prints one line for each and closes with 'N passed, N failed'. A
// program that needs a main of its own defines CHECK_NO_MAIN and calls check::run_all.
#pragma once

#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace check {

struct test_case {
  const char* name;
  void (*body)();
};

inline std::vector<test_case>& cases() {
  static std::vector<test_case> all;
  return all;
}

/// What stands in front of each line, e.g. the rank; empty in one process.
inline std::string& line_prefix() {
  static std::string text;
  return text;
}

inline const char*& current_case() {
  static const char* name = "";
  return name;
}

inline int& failures_in_case() {
  static int count = 0;
  return count;
}

/// Called after each case with its name; reports what the case left behind by failing. See
/// check_log.hpp.
inline std::vector<void (*)()>& after_each() {
  static std::vector<void (*)()> all;
  return all;
}

struct registration {
  registration(const char* name, void (*body)()) { cases().push_back({name, body}); }
};

inline void fail(const char* file, int line, const std::string& what) {
  ++failures_in_case();
  std::printf("%sFAILED %s: %s:%d: %s\n", line_prefix().c_str(), current_case(), file, line,
              what.c_str());
  std::fflush(stdout);
}

template <class T>
std::string show(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (requires(std::ostringstream & out) { out << value; }) {
    std::ostringstream out;
    out << std::boolalpha << value;
    return out.str();
  } else {
    return "(no text form)";
  }
}

// Literals are int where sizes are not: values are compared, not types.
template <class A, class B>
bool equal(const A& a, const B& b) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                !std::is_same_v<B, bool>) {
    const bool both = (a < A{}) == (b < B{});
    return both && static_cast<unsigned long long>(a) == static_cast<unsigned long long>(b);
  } else {
    return a == b;
  }
}

template <class A, class B>
bool check_equal(const A& a, const B& b, const char* text, const char* file, int line) {
  if (equal(a, b)) return true;
  fail(file, line, std::string(text) + ": " + show(a) + " != " + show(b));
  return false;
}

inline bool run_one(const test_case& one) {
  current_case() = one.name;
  failures_in_case() = 0;
  one.body();
  for (auto* look : after_each()) look();
  if (failures_in_case() == 0) std::printf("%sok %s\n", line_prefix().c_str(), one.name);
  std::fflush(stdout);
  return failures_in_case() == 0;
}

inline bool wanted(const test_case& one, int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], one.name) == 0) return true;
  return argc < 2;
}

/// Runs the cases that the command line names (all, if none); the exit code of main: 77 if there
/// are none.
inline int run_all(int argc, char** argv) {
  int passed = 0;
  int failed = 0;
  for (const test_case& one : cases())
    if (wanted(one, argc, argv)) ++(run_one(one) ? passed : failed);
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const test_case& one : cases()) known = known || std::strcmp(argv[i], one.name) == 0;
    if (!known)
      std::printf("%sFAILED %s: no such test\n", line_prefix().c_str(), argv[i]), ++failed;
  }
  std::printf("%s%d passed, %d failed\n", line_prefix().c_str(), passed, failed);
  if (passed + failed == 0) return 77;
  return failed == 0 ? 0 : 1;
}

}  // namespace check

#define TEST_CASE(name)                                                                   \
  static void check_case_##name();                                                        \
  static const ::check::registration check_registration_##name(#name, check_case_##name); \
  static void check_case_##name()

#define CHECK(...)                                                       \
  do {                                                                   \
    if (!(__VA_ARGS__)) ::check::fail(__FILE__, __LINE__, #__VA_ARGS__); \
  } while (0)

#define CHECK_EQ(a, b) \
  static_cast<void>(::check::check_equal((a), (b), #a " == " #b, __FILE__, __LINE__))

#define REQUIRE(...)                                   \
  do {                                                 \
    if (!(__VA_ARGS__)) {                              \
      ::check::fail(__FILE__, __LINE__, #__VA_ARGS__); \
      return;                                          \
    }                                                  \
  } while (0)

#ifndef CHECK_NO_MAIN
// Weak: a test may consist of several files that include this header.
[[gnu::weak]] int main(int argc, char** argv) {
  return ::check::run_all(argc, argv);
}
#endif
