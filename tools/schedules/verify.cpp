// SPDX-License-Identifier: BSD-3-Clause
// The symbolic run. A rank's clock is 1 at the start and grows by one a step; `seen[q]` of a rank
// is the latest clock of q that happened before. A send reads until its message has been received,
// so its reading counts as the receiver's, at the clock of the receive; only the sender itself may
// overwrite what it sent with no more order than that, because an executor waits for its own sends.
#include "schedules/verify.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "schedules/cells.hpp"
#include "schedules/expected.hpp"
#include "schedules/outcome.hpp"

namespace telpher::coll {
namespace {

using clocks = std::vector<std::uint32_t>;

/// What a rank knows of the others: the latest clocks that happened before, and those of which all
/// slices did, because a message came in between.
struct knowledge {
  clocks seen;
  clocks stopped;
};

struct mark {  // a signal, or the sending end of a message
  std::shared_ptr<const knowledge> known;
  std::uint32_t clock;
  std::int32_t message;
};

struct message {
  span from;
  content holds;
  access received;  // rank -1: not yet
};

struct channel {  // from one rank to another
  std::vector<mark> marks;
  std::size_t taken = 0;
};

struct rank_state {
  std::size_t next = 0;
  knowledge known;
  std::shared_ptr<const knowledge> snapshot;  // of `known`, while it has not changed
  std::vector<std::int32_t> sending;          // messages not known to be received
  clocks touched;                             // by rank: its last access to this rank's spaces
};

const char* const space_names[] = {"input", "output", "scratch"};
const char* const kind_names[] = {"copy", "reduce", "signal", "wait", "send", "receive"};

class run {
 public:
  run(const problem& p, const std::vector<schedule>& all)
      : problem_(p),
        all_(all),
        values_(p.ranks),
        states_(all.size()),
        spaces_(all.size() * 3),
        one_node_(std::ranges::adjacent_find(p.node_of, std::not_equal_to{}) == p.node_of.end()) {}

  std::string operator()() {
    if (!check_shape() || !execute() || !check_ends()) return error_;
    std::vector<const cells*> outputs;
    for (std::int32_t r = 0; r < problem_.ranks && error_.empty(); ++r) {
      outputs.push_back(&place({r, space::output, 0, 0}));
      error_ = check_output(problem_, r, *outputs.back(), values_);
    }
    if (error_.empty() && problem_.what == operation::allreduce) error_ = check_same_bits(outputs);
    return error_;
  }

 private:
  // --- small things ---
  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }
  rank_state& state(std::int32_t r) { return states_[index(r)]; }
  bool same_node(std::int32_t a, std::int32_t b) const {
    return problem_.node_of.empty() || problem_.node_of[index(a)] == problem_.node_of[index(b)];
  }
  channel& between(std::unordered_map<std::uint64_t, channel>& where, std::int32_t from,
                   std::int32_t to) {
    return where[static_cast<std::uint64_t>(from) * states_.size() + index(to)];
  }
  /// The memory that a span lies in: an aliased input is the output.
  cells& place(const span& s) {
    const bool in_output = s.where == space::input && aliased(problem_, s.rank);
    return spaces_[index(s.rank) * 3 + (in_output ? 1 : static_cast<std::size_t>(s.where))];
  }
  bool fail(std::string text) {
    if (error_.empty()) error_ = std::move(text);
    return false;
  }
  bool fail_step(std::int32_t rank, const std::string& text) {
    const std::size_t at = states_[index(rank)].next;
    const step& s = all_[index(rank)].steps[at];
    return fail("rank " + std::to_string(rank) + ", step " + std::to_string(at) + " (" +
                kind_names[static_cast<std::size_t>(s.kind)] + "): " + text);
  }
  std::uint32_t clock_of(std::int32_t rank) {
    return static_cast<std::uint32_t>(state(rank).next) + 2;
  }

  // --- before the run ---
  bool check_shape() {
    if (all_.size() != index(problem_.ranks)) return fail("not one schedule for each rank");
    for (std::int32_t r = 0; r < problem_.ranks; ++r) {
      const schedule& s = all_[index(r)];
      if (s.rank != r || s.ranks != problem_.ranks)
        return fail("rank " + std::to_string(r) + ": the schedule is for another rank or size");
      if (s.scratch != all_[0].scratch)
        return fail("rank " + std::to_string(r) + ": asks for another size of scratch than rank 0");
      state(r).known.seen.assign(states_.size(), 0);
      state(r).known.seen[index(r)] = 1;
      state(r).known.stopped.assign(states_.size(), 0);
      state(r).touched.assign(states_.size(), 0);
      const std::uint64_t in = input_extent(problem_, r);
      const std::uint64_t out = output_extent(problem_, r);
      const std::uint64_t both = std::max(in, out);
      const bool one = aliased(problem_, r);
      extents_.push_back({one ? both : in, one ? both : out, s.scratch});
      place({r, space::input, 0, 0}).begin(one ? both : in, values_.leaf(r));
    }
    return true;
  }

  /// Does the span exist, and may `rank` reach it?
  bool check_span(std::int32_t rank, const span& s) {
    if (s.rank < 0 || s.rank >= problem_.ranks) return fail_step(rank, "a span of no rank");
    const std::uint64_t extent = extents_[index(s.rank)][static_cast<std::size_t>(s.where)];
    if (s.count == 0) return fail_step(rank, "an empty span");
    if (s.offset + s.count > extent)
      return fail_step(rank, "a span ends at " + std::to_string(s.offset + s.count) + " of the " +
                                 std::to_string(extent) + " elements of rank " +
                                 std::to_string(s.rank) + "'s " +
                                 space_names[static_cast<std::size_t>(s.where)]);
    if (s.rank == rank) return true;
    if (!same_node(rank, s.rank)) return fail_step(rank, "reaches into another node");
    if (s.where != space::scratch && !problem_.mapped)
      return fail_step(rank, "reaches a buffer that is not mapped");
    if (!one_node_ && state(rank).known.seen[index(s.rank)] == 0)
      return fail_step(rank, "touches rank " + std::to_string(s.rank) +
                                 "'s memory before that rank signalled in");
    return true;
  }

  // --- the run ---
  bool execute() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::int32_t r = 0; r < problem_.ranks; ++r)
        while (state(r).next < all_[index(r)].steps.size() && ready(r)) {
          if (!perform(r)) return false;
          ++state(r).next;
          moved = true;
        }
    }
    for (std::int32_t r = 0; r < problem_.ranks; ++r)
      if (state(r).next < all_[index(r)].steps.size()) return fail_step(r, "never ends: deadlock");
    return true;
  }

  /// Can the rank's next step run, as far as other ranks are concerned?
  bool ready(std::int32_t rank) {
    const step& s = all_[index(rank)].steps[state(rank).next];
    if (s.kind == step_kind::wait || s.kind == step_kind::receive) {
      if (s.peer < 0 || s.peer >= problem_.ranks) return true;  // perform() says what is wrong
      channel& c = between(s.kind == step_kind::wait ? signals_ : messages_to_, s.peer, rank);
      if (c.taken == c.marks.size()) return false;
    }
    return !overwrites_unsent(rank, s);
  }

  bool overwrites_unsent(std::int32_t rank, const step& s) {
    if (s.to.count == 0 || s.to.rank != rank) return false;
    auto& sending = state(rank).sending;
    std::erase_if(sending, [&](std::int32_t m) { return sent_[index(m)].received.rank >= 0; });
    return std::any_of(sending.begin(), sending.end(), [&](std::int32_t m) {
      const span& from = sent_[index(m)].from;
      return &place(from) == &place(s.to) && from.offset < s.to.offset + s.to.count &&
             s.to.offset < from.offset + from.count;
    });
  }

  bool perform(std::int32_t rank) {
    const step& s = all_[index(rank)].steps[state(rank).next];
    if (s.kind != step_kind::copy && s.kind != step_kind::reduce) {
      if (s.peer < 0 || s.peer >= problem_.ranks || s.peer == rank)
        return fail_step(rank, "no such peer");
      const bool off_node = s.kind == step_kind::send || s.kind == step_kind::receive;
      if (off_node == same_node(rank, s.peer))
        return fail_step(rank, off_node ? "a message inside a node" : "a signal to another node");
    }
    switch (s.kind) {
      case step_kind::copy:
      case step_kind::reduce:
        return move(rank, s);
      case step_kind::signal:
        between(signals_, rank, s.peer).marks.push_back(mark_now(rank, -1));
        return true;
      case step_kind::wait:
        take(rank, between(signals_, s.peer, rank), s.peer);
        return true;
      case step_kind::send:
        return send(rank, s);
      case step_kind::receive:
        return receive(rank, s);
    }
    return fail_step(rank, "no such kind of step");
  }

  bool move(std::int32_t rank, const step& s) {
    if (s.kind == step_kind::copy && s.sources.size() != 1)
      return fail_step(rank, "a copy of several sources");
    if (s.kind == step_kind::reduce && (s.sources.size() < 2 || !is_reduction(problem_.what)))
      return fail_step(rank, "nothing to reduce");
    content result;
    for (const span& from : s.sources) {
      content next;
      if (from.count != s.to.count) return fail_step(rank, "source and target differ in size");
      if (!read(rank, from, -1, next)) return false;
      if (result.empty())
        result = std::move(next);
      else if (!combine(values_, result, next))
        return fail_step(rank, "reduces elements of different places with each other");
    }
    return write(rank, s.to, std::move(result));
  }

  bool send(std::int32_t rank, const step& s) {
    if (s.sources.size() != 1 || s.sources[0].rank != rank)
      return fail_step(rank, "sends what is not its own");
    stop(rank);
    content holds;
    const auto number = static_cast<std::int32_t>(sent_.size());
    if (!read(rank, s.sources[0], number, holds)) return false;
    sent_.push_back({s.sources[0], std::move(holds), {}});
    state(rank).sending.push_back(number);
    between(messages_to_, rank, s.peer).marks.push_back(mark_now(rank, number));
    return true;
  }

  bool receive(std::int32_t rank, const step& s) {
    if (s.to.rank != rank) return fail_step(rank, "receives into another rank's memory");
    const std::int32_t number = take(rank, between(messages_to_, s.peer, rank), s.peer);
    stop(rank);
    message& m = sent_[index(number)];
    m.received = {rank, clock_of(rank), -1};
    if (m.from.count != s.to.count)
      return fail_step(rank, "receives " + std::to_string(s.to.count) +
                                 " elements of a message of " + std::to_string(m.from.count));
    return write(rank, s.to, m.holds);
  }

  /// A message: all slices of what the rank has done or waited for are done.
  void stop(std::int32_t rank) {
    rank_state& own = state(rank);
    own.known.seen[index(rank)] = clock_of(rank);
    own.known.stopped = own.known.seen;
    own.snapshot.reset();
    has_messages_ = true;
  }

  mark mark_now(std::int32_t rank, std::int32_t number) {
    rank_state& own = state(rank);
    if (!own.snapshot) own.snapshot = std::make_shared<const knowledge>(own.known);
    return {own.snapshot, clock_of(rank), number};
  }

  static void join(clocks& into, const clocks& from) {
    for (std::size_t q = 0; q < into.size(); ++q) into[q] = std::max(into[q], from[q]);
  }

  /// Joins the next mark of a channel into what the rank knows; its message.
  std::int32_t take(std::int32_t rank, channel& c, std::int32_t from) {
    const mark m = std::exchange(c.marks[c.taken++], mark{});
    rank_state& own = state(rank);
    join(own.known.seen, m.known->seen);
    if (has_messages_) join(own.known.stopped, m.known->stopped);
    own.known.seen[index(from)] = std::max(own.known.seen[index(from)], m.clock);
    own.snapshot.reset();
    return m.message;
  }

  /// How the step that `rank` is at lies to `a`.
  order order_of(std::int32_t rank, const access& a) {
    if (a.message >= 0) {
      const access& end = sent_[index(a.message)].received;
      // An executor waits for its own sends before it overwrites what they read.
      if (a.rank == rank) return order::stopped;
      return end.rank >= 0 ? order_of(rank, end) : order::none;
    }
    const knowledge& known = state(rank).known;
    if (known.stopped[index(a.rank)] >= a.clock) return order::stopped;
    // Between nodes a rank takes whole steps (coll/between).
    if (a.rank == rank) return !one_node_ ? order::stopped : order::sliced;
    if (known.seen[index(a.rank)] >= a.clock) return order::sliced;
    return order::none;
  }

  bool read(std::int32_t rank, const span& s, std::int32_t number, content& found) {
    if (!check_span(rank, s)) return false;
    const std::string error = place(s).read(s.offset, s.count, found, touch(rank, s, number),
                                            [&](const access& a) { return order_of(rank, a); });
    return error.empty() || fail_step(rank, error + describe(s));
  }

  bool write(std::int32_t rank, const span& s, content holds) {
    if (!check_span(rank, s)) return false;
    if (s.where == space::input && !aliased(problem_, s.rank))
      return fail_step(rank, "writes to an input");
    const std::string error =
        place(s).write(s.offset, s.count, std::move(holds), touch(rank, s, -1),
                       [&](const access& a) { return order_of(rank, a); });
    return error.empty() || fail_step(rank, error + describe(s));
  }

  access touch(std::int32_t rank, const span& s, std::int32_t number) {
    const std::uint32_t clock = clock_of(rank);
    state(s.rank).touched[index(rank)] = clock;
    return {rank, clock, number};
  }

  static std::string describe(const span& s) {
    return " (rank " + std::to_string(s.rank) + "'s " +
           space_names[static_cast<std::size_t>(s.where)] + ")";
  }

  // --- after the run ---
  bool check_ends() {
    for (const auto* where : {&signals_, &messages_to_})
      for (const auto& [pair, c] : *where)
        if (c.taken != c.marks.size())
          return fail("rank " + std::to_string(pair % states_.size()) + " never takes a " +
                      (where == &signals_ ? "signal" : "message") + " of rank " +
                      std::to_string(pair / states_.size()));
    for (std::int32_t r = 0; r < problem_.ranks; ++r)
      for (std::int32_t by = 0; by < problem_.ranks; ++by)
        if (by != r && state(r).touched[index(by)] > state(r).known.seen[index(by)])
          return fail("rank " + std::to_string(r) + " ends while rank " + std::to_string(by) +
                      " may still touch its memory");
    return true;
  }

  const problem& problem_;
  const std::vector<schedule>& all_;
  value_table values_;
  std::vector<rank_state> states_;
  std::vector<cells> spaces_;
  std::unordered_map<std::uint64_t, channel> signals_;
  std::unordered_map<std::uint64_t, channel> messages_to_;
  std::vector<message> sent_;
  std::vector<std::array<std::uint64_t, 3>> extents_;  // of each rank's spaces
  bool one_node_ = false;
  bool has_messages_ = false;
  std::string error_;
};

}  // namespace

std::string verify(const problem& p, const std::vector<schedule>& all) {
  return run(p, all)();
}

}  // namespace telpher::coll
