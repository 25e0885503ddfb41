// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "check.hpp"

using namespace telpher;

TEST_CASE(parts_of_a_text) {
  std::string_view text = "one\n\ntwo", line;
  CHECK(take_part(text, line) && line == "one");
  CHECK(take_part(text, line) && line.empty());
  CHECK(take_part(text, line) && line == "two");
  CHECK(!take_part(text, line));
  text = "a,b,";
  CHECK(take_part(text, line, ',') && line == "a");
  CHECK(take_part(text, line, ',') && line == "b");
  CHECK(!take_part(text, line, ','));
}

TEST_CASE(words_and_numbers) {
  words line("  devices 4\t1.5e1  name of it \r");
  std::string word;
  int whole = 0;
  double real = 0;
  CHECK(line.take(word));
  CHECK_EQ(word, std::string("devices"));
  CHECK(line.take(whole));
  CHECK_EQ(whole, 4);
  CHECK(line.take(real));
  CHECK_EQ(real, 15.0);
  CHECK(line.take_rest(word));
  CHECK_EQ(word, std::string("name of it"));
  CHECK(!line.take(word));
  CHECK(!line.take_rest(word));
}

TEST_CASE(what_is_no_number_stays) {
  for (const char* text : {"8x", "on", "1.5.2", "0x10", "nan", "inf", "99999999999999999999999x"}) {
    words line(text);
    int whole = 7;
    double real = 7;
    std::string word;
    CHECK(!line.take(whole));
    CHECK(!line.take(real));
    CHECK_EQ(whole, 7);
    CHECK_EQ(real, 7.0);
    CHECK(line.take(word));
    CHECK_EQ(word, std::string(text));
  }
  words negative("-3 -0.5");
  int whole = 0;
  double real = 0;
  CHECK(negative.take(whole) && negative.take(real));
  CHECK(whole == -3 && real == -0.5);
}

TEST_CASE(files) {
  char path[] = "/tmp/telpher-text-XXXXXX";
  const int file = ::mkstemp(path);
  REQUIRE(file >= 0);
  const std::string content(10000, 'x');
  CHECK_EQ(::write(file, content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ::close(file);
  std::string text = "before";
  CHECK(read_file(path, text));
  CHECK(text == content);
  CHECK(read_file(path, text, content.size()));
  CHECK(!read_file(path, text, content.size() - 1));
  ::unlink(path);
  CHECK(!read_file(path, text));
  CHECK(!read_file("/", text));
  CHECK(text.empty());
}
