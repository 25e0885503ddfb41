// SPDX-License-Identifier: BSD-3-Clause
// Rows of a tuned table come before the built-in ones, for their sizes and numbers of ranks only;
// one that cannot serve a call is passed over; names that do not exist are refused.
#include "coll/exchange/selection.hpp"

#include <set>
#include <utility>

#include "check.hpp"
#include "coll/exchange/program.hpp"
#include "schedules/samples.hpp"

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

TEST_CASE(tuned_rows_of_each_form_of_calls) {
  using tuning::calls;
  REQUIRE(taken({{"allreduce", tuning::any_size, 2, "one_shot", "exchange", calls::enqueued},
                 {"allreduce", tuning::any_size, 2, "two_shot_push", "lines", calls::replayed},
                 {"allreduce", 4096, 2, "push", "packed", calls::replayed},
                 {"allreduce", tuning::any_size, 2, "two_shot", "exchange"}}));
  tuning::put_in_force({});
  problem p;
  p.what = operation::allreduce;
  p.ranks = 2;
  p.count = 64;
  exchange::facts f;
  f.unit = 4;
  f.exportable = true;
  const auto chosen_as = [&](const char* name, transport by, calls of) {
    const auto c = exchange::choose(p, f, 0);
    REQUIRE(c.what);
    CHECK_EQ(std::string(c.what->name), name);
    CHECK(c.by == by);
    CHECK(c.from.of == origin::table::tuned);
    CHECK(c.from.calls == of);
  };
  chosen_as("two_shot", transport::exchange, calls::any);
  f.replayed = true;
  chosen_as("push", transport::packed, calls::replayed);  // no lines between these devices
  f.lines = true;
  chosen_as("two_shot_push", transport::lines, calls::replayed);
  f.any_buffers = true;
  chosen_as("one_shot", transport::exchange, calls::enqueued);
  tuning::drop();
}

TEST_CASE(lines_are_for_replays_between_devices_that_deliver_them) {
  problem p;
  p.what = operation::allreduce;
  p.ranks = 4;
  p.count = 262144;
  exchange::facts f;
  f.unit = 4;
  f.exportable = f.replayed = f.lines = true;
  const auto best = exchange::choose(p, f, 1);
  CHECK_EQ(std::string(best.what->name), "two_shot_push");
  CHECK(best.by == transport::lines);
  p.ranks = 2;
  p.count = 65536;
  CHECK(exchange::choose(p, f, 0).by == transport::lines);
  auto other = f;
  other.lines = false;
  CHECK(exchange::choose(p, other, 0).by == transport::packed);
  other = f;
  other.replayed = false;
  CHECK(exchange::choose(p, other, 0).by == transport::packed);
  other = f;
  other.unit = 16;  // values that no word of a line holds
  p.count /= 4;
  CHECK(exchange::choose(p, other, 0).by == transport::packed);
}

namespace {

/// Where spans of packed memory begin and end, in lines.
using line_span = std::pair<std::uint64_t, std::uint64_t>;

void collect(std::set<line_span>& all, const span& s, std::uint64_t unit) {
  if (s.where != space::scratch || s.count == 0) return;
  CHECK_EQ(s.offset * unit % kernel::packed_line::payload, 0u);
  const auto lines = [&](std::uint64_t elements) {
    return exchange::packed_bytes(kernel::packed_format::lines, elements, unit) /
           kernel::packed_line::bytes;
  };
  all.emplace(lines(s.offset), lines(s.offset) + lines(s.count));
}

}  // namespace

TEST_CASE(spans_of_packed_memory_share_no_line) {
  for (const algorithm& a : algorithms())
    for (const std::int32_t ranks : {2, 3, 5})
      for (const std::uint64_t unit : {1u, 2u, 4u, 8u, 16u})
        for (problem p : sample_problems(a.what, ranks, sample_depth::full)) {
          p.granule = exchange::line_granule(unit);
          if (!(a.restrictions & restriction::packed) || !allows(a, p)) continue;
          for (std::int32_t rank = 0; rank < ranks; ++rank) {
            std::set<line_span> of[8];
            for (const step& s : a.make(p, rank).steps) {
              collect(of[s.to.rank], s.to, unit);
              for (const span& from : s.sources) collect(of[from.rank], from, unit);
            }
            for (const auto& spans : of) {
              std::uint64_t end = 0;
              for (const auto& [first, last] : spans) {
                CHECK(first >= end);
                end = last;
              }
            }
          }
        }
}

TEST_CASE(rows_without_meaning_are_refused) {
  std::string why;
  CHECK(!taken({{"allsum", 1, 2, "push", "packed"}}, &why));
  CHECK(why.find("allsum") != std::string::npos);
  CHECK(!taken({{"allreduce", 1, 2, "pull", "packed"}}));
  CHECK(!taken({{"allreduce", 1, 2, "push", "quick"}}));
  CHECK(!taken({{"allreduce", 1, 2, "two_level_ring", "exchange"}}));  // between nodes
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
