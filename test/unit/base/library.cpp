// SPDX-License-Identifier: BSD-3-Clause
// Libraries opened at run time: found, missing, already open; and the library that holds an
// address.
#include "base/library.hpp"

#include <string>

#include "check.hpp"

using telpher::library;

TEST_CASE(a_missing_library_says_why) {
  std::string why;
  const library missing = library::open("libtelpher-no-such.so", why);
  CHECK(!missing);
  CHECK(why.find("libtelpher-no-such.so") != std::string::npos);
  CHECK(missing.symbol("anything") == nullptr);
}

TEST_CASE(a_symbol_is_found_with_its_type) {
  std::string why;
  const library c = library::open("libc.so.6", why);
  REQUIRE(static_cast<bool>(c));
  int (*absolute)(int) = nullptr;
  REQUIRE(c.find("abs", absolute));
  CHECK_EQ(absolute(-4), 4);
  CHECK(!c.find("no_such_function_here", absolute));
}

TEST_CASE(already_open_opens_nothing) {
  CHECK(static_cast<bool>(library::already_open("libc.so.6")));
  CHECK(!library::already_open("libtelpher-no-such.so"));
}

TEST_CASE(the_folder_of_an_address_is_that_of_its_file) {
  static const int here = 0;
  const std::string folder = telpher::folder_of(&here);
  CHECK(!folder.empty() && folder.back() != '/');
  CHECK_EQ(telpher::folder_of(nullptr), ".");
}
