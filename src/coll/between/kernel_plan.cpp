// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/kernel_plan.hpp"

#include <algorithm>
#include <utility>

namespace telpher::coll::between {
namespace {

bool overlap(const span& a, const span& b) {
  return a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

class translation {
 public:
  translation(const schedule& s, const std::vector<std::int32_t>& node, bool in_place,
              std::uint64_t granule)
      : of_(s),
        node_(node),
        in_place_(in_place),
        granule_(granule),
        host_(static_cast<std::int32_t>(node.size())) {
    made_.steps.rank = place_of(s.rank);
    made_.steps.ranks = host_ + 1;
    made_.steps.scratch = s.scratch;
  }

  kernel_plan operator()() {
    for (const step& s : of_.steps) add(s);
    return std::move(made_);
  }

 private:
  struct use {
    span what;
    bool writes;
  };

  std::int32_t place_of(std::int32_t rank) const {
    return static_cast<std::int32_t>(std::lower_bound(node_.begin(), node_.end(), rank) -
                                     node_.begin());
  }
  span here(span s) const {
    s.rank = place_of(s.rank);
    return s;
  }

  void add(const step& s) {
    if (s.kind != step_kind::send) last_sent_ = {};
    switch (s.kind) {
      case step_kind::copy:
      case step_kind::reduce: {
        step there{s.kind, -1, here(s.to), {}};
        for (const span& from : s.sources) there.sources.push_back(here(from));
        return move(std::move(there));
      }
      case step_kind::signal:
        if (apart_) meet();
        return flag(step_kind::signal, place_of(s.peer));
      case step_kind::wait:
        flag(step_kind::wait, place_of(s.peer));
        waited_ = unsaid_ = true;
        return;
      case step_kind::send:
        return send(s.peer, here(s.sources[0]));
      case step_kind::receive:
        return receive(s.peer, here(s.to));
    }
  }

  void flag(step_kind kind, std::int32_t peer) {
    made_.steps.steps.push_back({kind, peer, {}, {}});
  }

  // --- where blocks meet ---

  /// All that blocks have used may be used in other slices from here on.
  void met() {
    used_.clear();
    waited_ = waited_before_send_ = apart_ = false;
  }
  void meet() {
    flag(step_kind::wait, made_.steps.rank);
    met();
  }
  bool same_space(const span& a, const span& b) const {
    if (a.rank != b.rank) return false;
    const bool buffers = a.rank == made_.steps.rank && in_place_ && a.where != space::scratch &&
                         b.where != space::scratch;
    return a.where == b.where || buffers;
  }
  /// Whether other slices of it were used, and one of both uses writes.
  bool clashes(const use& one) const {
    return std::any_of(used_.begin(), used_.end(), [&](const use& before) {
      const span &a = one.what, &b = before.what;
      return (one.writes || before.writes) && same_space(a, b) && overlap(a, b) &&
             !(a.offset == b.offset && a.count == b.count);
    });
  }

  void move(step&& s) {
    std::vector<use> uses{{s.to, true}};
    for (const span& from : s.sources) uses.push_back({from, false});
    const auto clash = [&](const use& one) { return clashes(one); };
    // What a peer has said that it does not need any more may be written in other slices.
    if (waited_before_send_ || std::any_of(uses.begin(), uses.end(), clash)) meet();
    used_.insert(used_.end(), uses.begin(), uses.end());
    made_.steps.steps.push_back(std::move(s));
    unsaid_ = true;
  }

  // --- messages ---

  std::uint64_t aligned(std::uint64_t n) const { return (n + granule_ - 1) / granule_ * granule_; }

  void signal_host() {
    flag(step_kind::signal, host_);
    ++signals_;
    unsaid_ = false;
  }

  /// The same span to several peers has one place.
  void send(std::int32_t peer, const span& from) {
    if (!(from == last_sent_)) {
      const span to{host_, space::scratch, made_.leaving, from.count};
      move({step_kind::copy, -1, to, {from}});
      made_.leaving = aligned(to.offset + to.count);
      signal_host();
      last_sent_ = from;
    }
    made_.messages.push_back(
        {true, peer, made_.steps.steps[copy_of_last_send()].to.offset, from.count, signals_});
    apart_ = true;
    waited_before_send_ = waited_before_send_ || waited_;
  }
  std::size_t copy_of_last_send() const { return made_.steps.steps.size() - 2; }

  void receive(std::int32_t peer, const span& to) {
    if (unsaid_) signal_host();
    const span from{host_, space::input, made_.coming, to.count};
    made_.messages.push_back({false, peer, from.offset, from.count, signals_});
    made_.coming = aligned(from.offset + from.count);
    flag(step_kind::wait, host_);
    met();
    move({step_kind::copy, -1, to, {from}});
    apart_ = true;
  }

  const schedule& of_;
  const std::vector<std::int32_t>& node_;
  bool in_place_;
  std::uint64_t granule_;
  std::int32_t host_;
  kernel_plan made_;
  std::uint64_t signals_ = 0;        // to the host
  bool unsaid_ = false;              // something was done since the last signal to the host
  std::vector<use> used_;            // since all blocks met
  bool waited_ = false;              // for a rank since all blocks met
  bool waited_before_send_ = false;  // and a message has left after that
  bool apart_ = false;               // a message has left or come since all blocks met
  span last_sent_;                   // by the step before
};

}  // namespace

kernel_plan plan_for_kernel(const schedule& s, const std::vector<std::int32_t>& node, bool in_place,
                            std::uint64_t granule) {
  return translation(s, node, in_place, granule)();
}

}  // namespace telpher::coll::between
