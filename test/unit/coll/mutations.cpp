// SPDX-License-Identifier: BSD-3-Clause
// Tests that the verifier finds mistakes. Every correct schedule is broken at every place, in one
// way at a time, and the verifier must refuse each result. A broken schedule that it accepts would
// mean that a step is unnecessary, so this also keeps unnecessary steps out of the algorithms.
#include <algorithm>
#include <functional>
#include <utility>

#include "check.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "schedules/samples.hpp"
#include "schedules/verify.hpp"

using namespace telpher::coll;

namespace {

using schedules = std::vector<schedule>;

/// Changes step `at` of rank `rank`; false if the step cannot be broken in this way.
using mutation = std::function<bool(schedules& all, std::size_t rank, std::size_t at)>;

bool drop(schedules& all, std::size_t rank, std::size_t at, step_kind kind) {
  auto& steps = all[rank].steps;
  if (steps[at].kind != kind) return false;
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

mutation dropping(step_kind kind) {
  return [kind](schedules& all, std::size_t rank, std::size_t at) {
    return drop(all, rank, at, kind);
  };
}

bool moves(const step& s) {
  return s.kind == step_kind::copy || s.kind == step_kind::reduce;
}

/// Drops a wait and the signal that it waits for, so that only the race remains to be found.
bool drop_pair(schedules& all, std::size_t rank, std::size_t at) {
  const step wait = all[rank].steps[at];
  if (wait.kind != step_kind::wait) return false;
  int before = 0;
  for (std::size_t i = 0; i < at; ++i)
    before += all[rank].steps[i].kind == step_kind::wait && all[rank].steps[i].peer == wait.peer;
  drop(all, rank, at, step_kind::wait);
  auto& from = all[static_cast<std::size_t>(wait.peer)].steps;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i].kind == step_kind::signal && from[i].peer == static_cast<std::int32_t>(rank) &&
        before-- == 0)
      return drop(all, static_cast<std::size_t>(wait.peer), i, step_kind::signal);
  return false;
}

bool swap_sources(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.kind != step_kind::reduce) return false;
  std::swap(s.sources.front(), s.sources.back());
  return true;
}

bool repeat_source(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.kind != step_kind::reduce) return false;
  s.sources.back() = s.sources.front();
  return true;
}

bool shift_source(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.sources.empty()) return false;
  ++s.sources.back().offset;
  return true;
}

bool shift_target(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.to.count == 0) return false;
  ++s.to.offset;
  return true;
}

bool shorten(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.to.count < 2 || s.sources.empty()) return false;
  --s.to.count;
  for (span& from : s.sources) --from.count;
  return true;
}

bool read_another_rank(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (!moves(s)) return false;
  span& from = s.sources[0];
  from.rank = (from.rank + 1) % all[rank].ranks;
  // Not if the rank itself has written the same piece before: the result would be correct.
  for (std::size_t i = 0; i < at; ++i) {
    const span& to = all[rank].steps[i].to;
    if (to.count == from.count && to.rank == from.rank && to.offset == from.offset) return false;
  }
  return true;
}

bool write_another_rank(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.to.count == 0) return false;
  s.to.rank = (s.to.rank + 1) % all[rank].ranks;
  return true;
}

bool write_input(schedules& all, std::size_t rank, std::size_t at) {
  step& s = all[rank].steps[at];
  if (s.to.count == 0) return false;
  // Not in place, where an output would also be an input.
  s.to.where = space::input;
  return true;
}

bool touches(const step& s, std::int32_t rank) {
  bool found = s.to.count > 0 && s.to.rank == rank;
  for (const span& from : s.sources) found = found || from.rank == rank;
  return found;
}

/// Moves a step before the wait for a rank whose memory it accesses.
bool hoist_over_wait(schedules& all, std::size_t rank, std::size_t at) {
  auto& steps = all[rank].steps;
  if (at == 0 || !moves(steps[at]) || steps[at - 1].kind != step_kind::wait ||
      !touches(steps[at], steps[at - 1].peer))
    return false;
  std::swap(steps[at], steps[at - 1]);
  return true;
}

/// Moves a step that accesses a peer's memory to the end, when the peer may have finished.
bool move_to_the_end(schedules& all, std::size_t rank, std::size_t at) {
  auto& steps = all[rank].steps;
  bool foreign = false;
  for (std::int32_t r = 0; r < all[rank].ranks; ++r)
    foreign = foreign || (r != static_cast<std::int32_t>(rank) && touches(steps[at], r));
  if (!moves(steps[at]) || !foreign) return false;
  std::rotate(steps.begin() + static_cast<std::ptrdiff_t>(at),
              steps.begin() + static_cast<std::ptrdiff_t>(at) + 1, steps.end());
  return true;
}

struct outcome {
  int broken = 0;
  int accepted = 0;
  std::string example;
};

std::string place_of(const algorithm& a, const problem& p, std::size_t rank, std::size_t at) {
  return std::string(to_string(a.what)) + " " + a.name + " rank " + std::to_string(rank) +
         " step " + std::to_string(at) + (p.mapped ? " mapped" : " workspace") +
         (p.in_place ? " in place" : "");
}

void break_everywhere(const algorithm& a, const problem& p, const mutation& change, outcome& o) {
  schedules right;
  for (std::int32_t r = 0; r < p.ranks; ++r) right.push_back(a.make(p, r));
  for (std::size_t rank = 0; rank < right.size(); ++rank)
    for (std::size_t at = 0; at < right[rank].steps.size(); ++at) {
      schedules wrong = right;
      if (!change(wrong, rank, at)) continue;
      ++o.broken;
      if (!verify(p, wrong).empty()) continue;
      ++o.accepted;
      o.example += "\n  " + place_of(a, p, rank, at);
    }
}

struct selection {
  bool in_place = true;
  bool ordered_only = false;  // leaves out algorithms for operations that commute
  // Between nodes a schedule synchronizes, and a workspace is filled, also where a shape makes that
  // needless (empty shares, nodes of one rank, messages that order the same, pieces that follow
  // each other), and an allgather in place copies back what messages may have rounded: the part of
  // the broken schedules, in percent, that may be right all the same.
  int needless_between_nodes = 0;
};

void try_problem(const algorithm& a, problem p, const selection& which, const mutation& change,
                 outcome& o) {
  // One class of counts is enough: sizes of several elements, none equal to the number of ranks.
  // Empty blocks are synchronised as well.
  if (!is_v_form(a.what) && p.count != 9 * static_cast<std::uint64_t>(p.ranks) + 5) return;
  if (std::find(p.counts.begin(), p.counts.end(), 0u) != p.counts.end()) return;
  p.commutative = (a.restrictions & commutative_only) != 0;
  if ((p.in_place && !which.in_place) || (p.commutative && which.ordered_only)) return;
  if (allows(a, p)) break_everywhere(a, p, change, o);
}

void expect_refused(const mutation& change, const selection& which = {}) {
  outcome inside;
  outcome between;
  for (const algorithm& a : algorithms()) {
    const bool messages = (a.restrictions & between_nodes) != 0;
    const std::vector<std::vector<std::int32_t>> shapes = {{0, 0, 1, 1}, {0, 1, 1, 1}};
    for (const auto& nodes : messages ? shapes : std::vector<std::vector<std::int32_t>>{{}})
      for (const problem& p : sample_problems(a.what, 4, sample_depth::full, nodes))
        try_problem(a, p, which, change, messages ? between : inside);
  }
  CHECK(inside.broken > 100);
  CHECK(between.broken > 100 || which.ordered_only);
  CHECK_EQ(inside.accepted, 0);
  CHECK(between.accepted * 100 <= between.broken * which.needless_between_nodes);
  if (inside.accepted > 0) std::printf("accepted inside a node:%s\n", inside.example.c_str());
  if (between.accepted * 100 > between.broken * which.needless_between_nodes)
    std::printf("accepted between nodes: %d of %d:%s\n", between.accepted, between.broken,
                between.example.c_str());
}

}  // namespace

TEST_CASE(a_lost_wait) {
  expect_refused(dropping(step_kind::wait));
}
TEST_CASE(a_lost_signal) {
  expect_refused(dropping(step_kind::signal));
}
TEST_CASE(a_lost_wait_and_its_signal) {
  expect_refused(drop_pair, {.needless_between_nodes = 54});
}
TEST_CASE(a_lost_copy) {
  expect_refused(dropping(step_kind::copy), {.needless_between_nodes = 3});
}
TEST_CASE(a_lost_reduction) {
  expect_refused(dropping(step_kind::reduce));
}
TEST_CASE(swapped_sources) {
  expect_refused(swap_sources, {.ordered_only = true});
}
TEST_CASE(a_contribution_twice) {
  expect_refused(repeat_source);
}
TEST_CASE(a_shifted_source) {
  expect_refused(shift_source, {.needless_between_nodes = 1});
}
TEST_CASE(a_shifted_target) {
  expect_refused(shift_target, {.needless_between_nodes = 1});
}
TEST_CASE(a_short_span) {
  expect_refused(shorten, {.needless_between_nodes = 2});
}
TEST_CASE(a_source_at_another_rank) {
  expect_refused(read_another_rank, {.needless_between_nodes = 1});
}
TEST_CASE(a_target_at_another_rank) {
  expect_refused(write_another_rank);
}
TEST_CASE(a_target_in_an_input) {
  expect_refused(write_input, {.in_place = false});
}
TEST_CASE(a_step_before_its_wait) {
  expect_refused(hoist_over_wait, {.needless_between_nodes = 23});
}
TEST_CASE(a_step_after_the_last_signal) {
  expect_refused(move_to_the_end);
}
