// SPDX-License-Identifier: BSD-3-Clause
// The agreement (coll/exchange/agreement.hpp) in every interleaving of two and three ranks:
// blocking calls with proposals, descriptions and votes, slots that are used again, non-blocking
// calls whose proposals are withdrawn. All ranks must take every call for the same, and read
// nothing that is not theirs.
#define CHECK_NO_MAIN
#include "coll/exchange/agreement.hpp"

#include <memory>

#include "scenario.hpp"

using model::choose;
using model::expect;
using namespace telpher::coll::exchange;
using answer = agreement::answer;

namespace {

constexpr int most = 3;

struct node {
  agreement_line lines[most]{};
  agreement_line* pointers[most];
  std::array<std::array<int, 8>, most>
      taken{};  // what each rank took a call for: 1 host, 2 devices

  explicit node(int ranks) {
    for (int r = 0; r < ranks; ++r) pointers[r] = &lines[r];
  }
};

std::shared_ptr<node> make_node(model::world& w, int ranks) {
  auto n = std::make_shared<node>(ranks);
  for (agreement_line& line : n->lines) {
    w.name(&line.read, "read");
    w.name(&line.declined, "declined");
    for (agreement_slot& s : line.slot) {
      w.name(&s.proposed, "proposed");
      w.name(&s.voted, "voted", sizeof s.voted);
      w.name(&s.what, "description", sizeof s.what);
    }
  }
  w.name(&n->lines[0].cell, "cell", sizeof n->lines[0].cell);
  return n;
}

void all_took_the_same(node& n, int ranks) {
  for (std::size_t call = 0; call < n.taken[0].size(); ++call) {
    int heard = 0;
    for (int r = 0; r < ranks; ++r) {
      const int own = n.taken[static_cast<std::size_t>(r)][call];
      if (heard == 0) heard = own;
      expect(own == 0 || heard == 0 || own == heard, "ranks take a call for different ones");
    }
  }
}

std::uint64_t mark_of(std::uint64_t call, int rank) {
  return call * 10 + static_cast<std::uint64_t>(rank);
}

void read_descriptions(const agreement& a, int ranks, std::uint64_t call) {
  for (int r = 0; r < ranks; ++r)
    expect(a.description_of(r).signature == mark_of(call, r), "a description of the call");
}

// --- blocking calls ---

struct plan {
  int ranks = 2;
  std::uint64_t calls = 1;
  /// The proposal of a rank in a call.
  proposal (*proposed)(int rank, std::uint64_t call);
  bool votes = false;
  bool waits = true;  // for may_propose()
};

void blocking_call(node& n, agreement& a, int me, const plan& p) {
  const std::uint64_t call = a.next_call();
  a.begin(call);
  while (p.waits && !a.may_propose()) model::yield();
  if (p.proposed(me, call) == proposal::host) return a.propose(proposal::host);
  a.own_description().signature = mark_of(call, me);
  a.propose(proposal::device);
  bool all = true;
  for (int r = 0; r < p.ranks; ++r) all = all && p.proposed(r, call) == proposal::device;
  answer heard = answer::pending;
  while ((heard = a.proposals()) == answer::pending) model::yield();
  expect((heard == answer::yes) == all, "the proposals of all");
  n.taken[static_cast<std::size_t>(me)][call % 8] = heard == answer::yes ? 2 : 1;
  if (heard == answer::yes) read_descriptions(a, p.ranks, call);
  if (heard == answer::yes && p.votes) {
    n.lines[me].workspace.address = call;
    a.vote(me == 0 || call % 2 == 0);
    while ((heard = a.result()) == answer::pending) model::yield();
    expect((heard == answer::yes) == (call % 2 == 0), "the votes of all");
    for (int r = 0; r < p.ranks; ++r)
      expect(n.lines[r].workspace.address == call, "what was made before a vote");
    a.vote(true);
    while (a.result() == answer::pending) model::yield();
  }
  a.finish();
}

void make_blocking(model::world& w, const plan& p) {
  auto n = make_node(w, p.ranks);
  for (int me = 0; me < p.ranks; ++me)
    w.thread([n, me, p] {
      agreement a(n->pointers, p.ranks, me);
      for (std::uint64_t c = 0; c < p.calls; ++c) blocking_call(*n, a, me, p);
    });
  w.finally([n, p] { all_took_the_same(*n, p.ranks); });
}

proposal mixed(int rank, std::uint64_t call) {
  return call == 1 || (call == 2 && rank == 0) ? proposal::device : proposal::host;
}
proposal all_devices(int, std::uint64_t) {
  return proposal::device;
}
/// Rank 1 runs ahead through all the slots after a call of both, and comes back to the first.
proposal far_ahead(int rank, std::uint64_t call) {
  return rank == 0 ? (call == 1 ? proposal::device : proposal::host)
                   : (call % agreement_line::slots == 1 ? proposal::device : proposal::host);
}

void make_mixed(model::world& w) {
  make_blocking(w, {.ranks = 2, .calls = 3, .proposed = mixed});
}
void make_votes(model::world& w) {
  make_blocking(w, {.ranks = 2, .calls = 1, .proposed = all_devices, .votes = true});
}
void make_three(model::world& w) {
  make_blocking(w, {.ranks = 3, .calls = 1, .proposed = all_devices});
}
void make_reuse(model::world& w) {
  make_blocking(w, {.ranks = 2, .calls = agreement_line::slots + 1, .proposed = far_ahead});
}
void make_overwriting(model::world& w) {
  make_blocking(
      w, {.ranks = 2, .calls = agreement_line::slots + 1, .proposed = far_ahead, .waits = false});
}

// --- non-blocking calls ---

/// A call is proposed or declined, and a proposal may be withdrawn while it is pending. Calls that
/// do not meet the first one's cell are declined.
void nonblocking_call(node& n, agreement& a, int me, int ranks) {
  const std::uint64_t call = a.next_call();
  int& taken = n.taken[static_cast<std::size_t>(me)][call % 8];
  if (call % agreement_line::slots != 1 || choose(2) == 1) {
    taken = 1;
    return a.decline(call);
  }
  a.begin(call);
  while (!a.may_propose()) model::yield();
  a.own_description().signature = mark_of(call, me);
  a.propose_revocably();
  answer heard = a.decision();
  while (heard == answer::pending) {
    if (choose(2) == 1) {
      if (a.withdraw()) {
        taken = 1;
        return a.decline(call);
      }
    } else {
      model::yield();
    }
    heard = a.decision();
  }
  taken = heard == answer::yes ? 2 : 1;
  if (heard == answer::yes) read_descriptions(a, ranks, call);
  a.finish();
}

void make_nonblocking(model::world& w, int ranks, int calls) {
  auto n = make_node(w, ranks);
  for (int me = 0; me < ranks; ++me)
    w.thread([=] {
      agreement a(n->pointers, ranks, me);
      for (int c = 0; c < calls; ++c) nonblocking_call(*n, a, me, ranks);
    });
  w.finally([n, ranks] { all_took_the_same(*n, ranks); });
}

void make_revocable(model::world& w) {
  make_nonblocking(w, 2, 1);
}
void make_revocable_of_three(model::world& w) {
  make_nonblocking(w, 3, 1);
}
void make_many_revocable(model::world& w) {
  make_nonblocking(w, 2, static_cast<int>(agreement_line::slots) + 1);
}

}  // namespace

TEST_CASE(proposals_in_all_interleavings) {
  model::holds("host and device proposals", {}, make_mixed);
  model::holds("three ranks", {.deviations = 2}, make_three);
}

TEST_CASE(votes_in_all_interleavings) {
  model::holds("votes", {.deviations = 3}, make_votes);
}

TEST_CASE(slots_used_again) {
  model::holds("slots used again", {.deviations = 3}, make_reuse);
  model::finds("slots written without waiting", {.deviations = 3}, make_overwriting);
}

TEST_CASE(revocable_proposals_in_all_interleavings) {
  model::holds("revocable proposals", {.deviations = 4}, make_revocable);
  model::holds("revocable proposals of three", {.deviations = 1}, make_revocable_of_three);
  model::holds("revocable proposals in cells used again", {.deviations = 1}, make_many_revocable);
}

TEST_CASE(defects_of_the_agreement_are_found) {
  using enum model::mutation;
  model::finds_all("proposals", {}, make_mixed,
                   {{"proposed", store_relaxed}, {"proposed", load_relaxed}});
  model::finds_all("votes", {.deviations = 3}, make_votes,
                   {{"voted", store_relaxed}, {"voted", load_relaxed}});
  model::finds_all("reuse", {.deviations = 3}, make_reuse,
                   {{"read", store_relaxed}, {"read", load_relaxed}});
  model::finds_all("revocable proposals", {.deviations = 3}, make_revocable,
                   {{"cell", swap_split}, {"cell", swap_relaxed}});
}
