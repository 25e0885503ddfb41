// SPDX-License-Identifier: BSD-3-Clause
// Rows of a tuned table come before the built-in ones, for their sizes and numbers of ranks only;
// one that cannot serve a call is passed over; names that do not exist are refused.
#include "coll/exchange/selection.hpp"

#include "check.hpp"

using namespace telpher;
using namespace telpher::coll;
using exchange::origin;
using exchange::transport;

namespace {

exchange::choice chosen(std::uint64_t count, int ranks, bool exportable = true,
                        bool replayed = false) {
  problem p;
  p.what = operation::allreduce;
  p.ranks = ranks;
  p.count = count;
  exchange::facts f;
  f.unit = 4;
  f.exportable = exportable;
  f.replayed = replayed;
  return exchange::choose(p, f, 0);
}

bool taken(const std::vector<tuning::choice>& rows, std::string* said = nullptr) {
  std::string why;
  const bool ok = exchange::take_tuned(rows, why);
  if (said) *said = why;
  return ok;
}

}  // namespace

TEST_CASE(tuned_rows_come_first) {
  REQUIRE(taken({{"allreduce", 1024, 2, "one_shot", "exchange"},
                 {"allreduce", 4096, 2, "builtin", ""},
                 {"allreduce", tuning::any_size, 2, "one_shot", "stepped"}}));
  CHECK_EQ(std::string(chosen(64, 2).what->name), "push");  // not in force yet
  tuning::put_in_force({});
  const auto small = chosen(64, 2);
  CHECK_EQ(std::string(small.what->name), "one_shot");
  CHECK(small.from.of == origin::table::tuned);
  CHECK_EQ(small.from.most_bytes, 1024u);
  const auto middle = chosen(1024, 2);
  CHECK_EQ(std::string(middle.what->name), "push");
  CHECK(middle.from.of == origin::table::built_in);
  CHECK(chosen(4096, 2).by == transport::stepped);
  CHECK(chosen(4096, 2, false).from.of == origin::table::built_in);
  CHECK(chosen(64, 3).from.of == origin::table::built_in);
  tuning::drop();
  CHECK(chosen(64, 2).from.of == origin::table::built_in);
}

TEST_CASE(replays_have_rows_of_their_own) {
  constexpr std::uint64_t count = 131072;  // 512 KB, more packed words than ordinary calls have
  for (const int ranks : {2, 4, 8}) {
    const auto replay = chosen(count, ranks, true, true);
    CHECK_EQ(std::string(replay.what->name), "two_shot_push");
    CHECK(replay.by == transport::packed);
    CHECK_EQ(std::string(chosen(count, ranks).what->name), "two_shot");
  }
}

TEST_CASE(rows_without_meaning_are_refused) {
  std::string why;
  CHECK(!taken({{"allsum", 1, 2, "push", "packed"}}, &why));
  CHECK(why.find("allsum") != std::string::npos);
  CHECK(!taken({{"allreduce", 1, 2, "pull", "packed"}}));
  CHECK(!taken({{"allreduce", 1, 2, "push", "quick"}}));
  CHECK(!taken({{"allreduce", 1, 2, "ring", "exchange"}}));  // between nodes
  CHECK(!taken({{"allreduce", 1, 2, "push", "vendor"}}));
  CHECK(taken({{"allreduce", 1, 2, "library", "vendor"}}));
}

TEST_CASE(names_that_force_nothing_are_found) {
  using exchange::unknown_algorithm;
  CHECK_EQ(std::string(unknown_algorithm("")), "");
  CHECK_EQ(std::string(unknown_algorithm("allreduce=two_shot,bcast=push")), "");
  CHECK_EQ(std::string(unknown_algorithm("alltoall=two_level,reduce=staged,bcast=push")), "");
  CHECK_EQ(std::string(unknown_algorithm("allreduce=push,bcast=nonsense")), "bcast=nonsense");
  CHECK_EQ(std::string(unknown_algorithm("allreduse=push")), "allreduse=push");
  CHECK_EQ(std::string(unknown_algorithm("allreduce")), "allreduce");
}
