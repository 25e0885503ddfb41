// SPDX-License-Identifier: BSD-3-Clause
// The protocol of agreement. A device rank learns what every rank proposed in its call, however far
// host ranks have run ahead. A slot that somebody has still to read is not overwritten. Votes.
// Non-blocking calls: all ranks decide alike even if proposals are withdrawn. Many calls by threads
// that sleep at random places.
#include "coll/exchange/agreement.hpp"

#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "check.hpp"

using namespace telpher::coll::exchange;

namespace {

/// The lines of several ranks, and each rank's view of them.
class node {
 public:
  explicit node(int ranks) : lines_(new agreement_line[static_cast<std::size_t>(ranks)]{}) {
    for (int r = 0; r < ranks; ++r) pointers_.push_back(&lines_[static_cast<std::size_t>(r)]);
    for (int r = 0; r < ranks; ++r) views_.emplace_back(pointers_.data(), ranks, r);
  }
  agreement& operator[](int r) { return views_[static_cast<std::size_t>(r)]; }

  bool proposes(int r, proposal p) {
    agreement& a = (*this)[r];
    a.begin(a.next_call());
    if (!a.may_propose()) return false;
    a.propose(p);
    return true;
  }
  bool proposes_revocably(int r) {
    agreement& a = (*this)[r];
    a.begin(a.next_call());
    if (!a.may_propose()) return false;
    a.propose_revocably();
    return true;
  }
  void declines(int r) { (*this)[r].decline((*this)[r].next_call()); }

 private:
  std::unique_ptr<agreement_line[]> lines_;
  std::vector<agreement_line*> pointers_;
  std::vector<agreement> views_;
};

using answer = agreement::answer;

}  // namespace

TEST_CASE(all_devices_agree) {
  node n(3);
  CHECK(n.proposes(0, proposal::device));
  CHECK(n.proposes(1, proposal::device));
  CHECK_EQ(n[0].proposals(), answer::pending);
  CHECK_EQ(n[0].missing(), 2);
  CHECK(n.proposes(2, proposal::device));
  for (int r = 0; r < 3; ++r) CHECK_EQ(n[r].proposals(), answer::yes);
}

TEST_CASE(one_host_rank_and_nobody_goes_to_the_devices) {
  node n(2);
  CHECK(n.proposes(0, proposal::device));
  CHECK(n.proposes(1, proposal::host));
  CHECK_EQ(n[0].proposals(), answer::no);
}

TEST_CASE(a_host_rank_runs_ahead_without_waiting) {
  node n(2);
  for (int i = 0; i < 100; ++i) CHECK(n.proposes(1, proposal::host));
  for (int i = 0; i < 100; ++i) {
    CHECK(n.proposes(0, proposal::device));
    CHECK_EQ(n[0].proposals(), answer::no);
    n[0].finish();
  }
  CHECK(n.proposes(0, proposal::device));
  CHECK_EQ(n[0].proposals(), answer::pending);
}

// Rank 1 has read all of call 1 and continues as a host rank; rank 0 has still to read. Rank 1's
// proposal for call 1 must stay.
TEST_CASE(a_device_proposal_stays_until_it_was_read) {
  node n(2);
  CHECK(n.proposes(0, proposal::device));
  CHECK(n.proposes(1, proposal::device));
  CHECK_EQ(n[1].proposals(), answer::yes);
  n[1].finish();
  for (std::uint64_t i = 1; i < agreement_line::slots; ++i) CHECK(n.proposes(1, proposal::host));
  CHECK(!n.proposes(1, proposal::host));
  CHECK_EQ(n[0].proposals(), answer::yes);
  n[0].finish();
  CHECK(n[1].may_propose());
}

TEST_CASE(a_host_reader_is_not_waited_for) {
  node n(2);
  CHECK(n.proposes(0, proposal::host));
  CHECK(n.proposes(1, proposal::device));
  CHECK_EQ(n[1].proposals(), answer::no);
  n[1].finish();
  for (std::uint64_t i = 0; i < 2 * agreement_line::slots; ++i)
    CHECK(n.proposes(1, proposal::host));
}

TEST_CASE(votes_are_counted_one_by_one) {
  node n(2);
  CHECK(n.proposes(0, proposal::device));
  CHECK(n.proposes(1, proposal::device));
  CHECK_EQ(n[0].proposals(), answer::yes);
  CHECK_EQ(n[1].proposals(), answer::yes);
  n[0].vote(true);
  CHECK_EQ(n[0].result(), answer::pending);
  n[1].vote(true);
  CHECK_EQ(n[0].result(), answer::yes);
  n[0].vote(true);
  CHECK_EQ(n[1].result(), answer::yes);
  n[1].vote(false);
  CHECK_EQ(n[0].result(), answer::no);
  CHECK_EQ(n[1].result(), answer::no);
}

TEST_CASE(a_failure_belongs_to_its_call) {
  node n(2);
  CHECK(n.proposes(0, proposal::device));
  CHECK(n.proposes(1, proposal::device));
  n[1].fail_call();
  CHECK(n[0].failed_in_call(1));
  CHECK(n.proposes(0, proposal::host));
  CHECK(!n[0].failed_in_call(1));
}

namespace {

/// The proposal of rank r in a call: a function that all know, so that each can check what it
/// receives.
proposal proposal_of(int r, std::uint64_t call) {
  std::uint64_t x = (call / 7) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(r) * 77;
  x ^= x >> 31;
  return x % 4 == 0 ? proposal::host : proposal::device;
}

int wrong_answers(agreement& a, int me, int ranks, std::uint64_t calls) {
  int wrong = 0;
  std::minstd_rand random(static_cast<unsigned>(me) + 1);
  const auto dawdle = [&] {
    if (random() % 8 == 0) std::this_thread::yield();
  };
  for (std::uint64_t c = 1; c <= calls; ++c) {
    a.begin(a.next_call());
    while (!a.may_propose()) std::this_thread::yield();
    if (proposal_of(me, c) == proposal::host) {
      a.propose(proposal::host);
      dawdle();
      continue;
    }
    a.own_description().signature = c;
    a.propose(proposal::device);
    dawdle();
    bool all = true;
    for (int r = 0; r < ranks; ++r) all = all && proposal_of(r, c) == proposal::device;
    while (a.proposals() == answer::pending) std::this_thread::yield();
    wrong += (a.proposals() == answer::yes) != all;
    for (int r = 0; r < ranks && all; ++r) wrong += a.description_of(r).signature != c;
    if (all) {
      a.vote(c % 3 != 0 || me != 0);
      while (a.result() == answer::pending) std::this_thread::yield();
      wrong += (a.result() == answer::yes) != (c % 3 != 0);
    }
    dawdle();
    a.finish();
  }
  return wrong;
}

}  // namespace

TEST_CASE(many_calls_in_any_order) {
  constexpr int ranks = 3;
  node n(ranks);
  std::vector<std::thread> threads;
  std::vector<int> wrong(ranks);
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back(
        [&, r] { wrong[static_cast<std::size_t>(r)] = wrong_answers(n[r], r, ranks, 3000); });
  for (std::thread& t : threads) t.join();
  for (const int w : wrong) CHECK_EQ(w, 0);
}

// --- non-blocking calls ---

TEST_CASE(all_proposals_decide_for_the_devices) {
  node n(3);
  for (int r = 0; r < 3; ++r) {
    CHECK(n.proposes_revocably(r));
    for (int q = 0; q <= r; ++q) CHECK_EQ(n[q].decision(), r == 2 ? answer::yes : answer::pending);
  }
  for (int r = 0; r < 3; ++r) CHECK(!n[r].withdraw());
}

TEST_CASE(a_proposal_may_be_withdrawn_until_all_have_made_theirs) {
  node n(2);
  CHECK(n.proposes_revocably(0));
  CHECK_EQ(n[0].decision(), answer::pending);
  CHECK_EQ(n[0].missing(), 1);
  CHECK(n[0].withdraw());
  n[0].decline(1);
  CHECK(n.proposes_revocably(1));
  CHECK_EQ(n[0].decision(), answer::no);
  CHECK_EQ(n[1].decision(), answer::no);
  CHECK(n[1].withdraw());
}

TEST_CASE(who_passes_is_waited_for_by_nobody) {
  node n(3);
  CHECK(n.proposes_revocably(0));
  for (int i = 0; i < 100; ++i) n.declines(1);
  CHECK_EQ(n[0].decision(), answer::no);
  n[0].finish();
  for (int i = 1; i < 100; ++i) {
    CHECK(n.proposes_revocably(0));
    CHECK_EQ(n[0].decision(), answer::no);
    n[0].finish();
  }
  for (int i = 0; i < 100; ++i) {  // its cells have later numbers by now
    CHECK(n.proposes_revocably(2));
    CHECK_EQ(n[2].decision(), answer::no);
    n[2].finish();
  }
  CHECK(n.proposes_revocably(0));
  CHECK_EQ(n[0].decision(), answer::pending);
}

// Rank 1 has finished call 1 and is far ahead; rank 0 has still to read the decision.
TEST_CASE(a_decision_stays_until_it_was_read) {
  node n(2);
  CHECK(n.proposes_revocably(0));
  CHECK(n.proposes_revocably(1));
  CHECK_EQ(n[1].decision(), answer::yes);
  n[1].finish();
  for (std::uint64_t i = 1; i < agreement_line::slots; ++i) n.declines(1);
  CHECK(!n.proposes_revocably(1));
  CHECK_EQ(n[0].decision(), answer::yes);
  n[0].finish();
  CHECK(n[1].may_propose());
}

namespace {

/// How rank `me` took each call: by the devices or by the host. Calls 5, 10, ... are blocking.
std::vector<bool> decisions(agreement& a, int me, std::uint64_t calls, int& wrong, int ranks) {
  std::vector<bool> on_devices;
  std::minstd_rand random(static_cast<unsigned>(me) * 7 + 3);
  for (std::uint64_t c = 1; c <= calls; ++c) {
    const bool blocking = c % 5 == 0;
    if (!blocking && random() % 8 == 0) {
      a.decline(a.next_call());
      on_devices.push_back(false);
      continue;
    }
    a.begin(a.next_call());
    while (!a.may_propose()) std::this_thread::yield();
    a.own_description().signature = c;
    blocking ? a.propose(proposal::device) : a.propose_revocably();
    auto heard = answer::pending;
    while (heard == answer::pending) {
      heard = blocking ? a.proposals() : a.decision();
      if (heard == answer::pending && !blocking && random() % 16 == 0 && a.withdraw()) break;
      std::this_thread::yield();
    }
    const bool yes = heard == answer::yes;
    for (int r = 0; r < ranks && yes; ++r) wrong += a.description_of(r).signature != c;
    on_devices.push_back(yes);
    heard == answer::pending ? a.decline(c) : a.finish();
  }
  return on_devices;
}

}  // namespace

TEST_CASE(all_ranks_take_nonblocking_calls_for_the_same) {
  constexpr int ranks = 3;
  constexpr std::uint64_t calls = 4000;
  node n(ranks);
  std::vector<std::thread> threads;
  std::vector<std::vector<bool>> taken(ranks);
  std::vector<int> wrong(ranks);
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      const auto i = static_cast<std::size_t>(r);
      taken[i] = decisions(n[r], r, calls, wrong[i], ranks);
    });
  for (std::thread& t : threads) t.join();
  for (const int w : wrong) CHECK_EQ(w, 0);
  for (int r = 1; r < ranks; ++r) CHECK(taken[static_cast<std::size_t>(r)] == taken[0]);
  for (std::size_t c = 4; c < calls; c += 5) CHECK(taken[0][c]);
  std::size_t nonblocking = 0;
  for (std::size_t c = 0; c < calls; ++c) nonblocking += c % 5 != 4 && taken[0][c];
  CHECK(nonblocking > 0);
}
