// SPDX-License-Identifier: BSD-3-Clause
// status and result: what they hold, and that TELPHER_TRY returns early.
#include "base/status.hpp"

#include <memory>
#include <string>

#include "check.hpp"

using telpher::result;
using telpher::status;

namespace {

status twice(result<int> input, int& output) {
  TELPHER_TRY(input);
  output = 2 * *input;
  return status::ok;
}

struct counted {
  explicit counted(int& alive) : alive_(&alive) { ++*alive_; }
  counted(const counted& other) : alive_(other.alive_) { ++*alive_; }
  ~counted() { --*alive_; }
  int* alive_;
};

}  // namespace

TEST_CASE(every_status_has_a_name) {
  for (int i = 0; i <= static_cast<int>(status::host_mpi_error); ++i)
    CHECK(std::string(to_string(static_cast<status>(i))) != "unknown status");
  CHECK_EQ(std::string(to_string(static_cast<status>(999))), "unknown status");
}

TEST_CASE(only_ok_is_no_failure) {
  CHECK(!failed(status::ok));
  CHECK(failed(status::would_block));
  CHECK(failed(status::device_error));
}

TEST_CASE(result_holds_a_value_or_a_reason) {
  result<int> good = 7;
  REQUIRE(good.has_value());
  CHECK_EQ(*good, 7);
  CHECK_EQ(good.error(), status::ok);
  result<int> bad = status::out_of_memory;
  CHECK(!bad);
  CHECK_EQ(bad.error(), status::out_of_memory);
  CHECK_EQ(bad.value_or(3), 3);
}

TEST_CASE(result_moves_what_cannot_be_copied) {
  result<std::unique_ptr<int>> first = std::make_unique<int>(5);
  result<std::unique_ptr<int>> second = std::move(first);
  REQUIRE(second.has_value() && *second);
  CHECK_EQ(**second, 5);
}

TEST_CASE(result_destroys_its_value_once) {
  int alive = 0;
  {
    result<counted> first = counted(alive);
    result<counted> second = first;
    result<counted> none = status::would_block;
    CHECK_EQ(alive, 2);
  }
  CHECK_EQ(alive, 0);
}

TEST_CASE(try_returns_the_first_failure) {
  int output = 0;
  CHECK_EQ(twice(4, output), status::ok);
  CHECK_EQ(output, 8);
  CHECK_EQ(twice(status::peer_lost, output), status::peer_lost);
  CHECK_EQ(output, 8);
}

TEST_CASE(into_moves_a_value_and_leaves_the_rest) {
  std::unique_ptr<int> place = std::make_unique<int>(1);
  CHECK_EQ(result<std::unique_ptr<int>>(status::would_block).into(place), status::would_block);
  CHECK_EQ(*place, 1);
  CHECK_EQ(result<std::unique_ptr<int>>(std::make_unique<int>(2)).into(place), status::ok);
  CHECK_EQ(*place, 2);
}
