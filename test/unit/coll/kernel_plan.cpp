// SPDX-License-Identifier: BSD-3-Clause
// Schedules between nodes as kernels: every algorithm, on every class of problem that it allows, on
// several nodes. The blocks of all ranks' kernels and the hosts run on clocks: of two accesses to
// one element of which one writes, one must happen before the other, whatever slices of the spans
// the blocks have; everything ends; and the outputs are those of the schedule itself.
#include "coll/between/kernel_plan.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "check.hpp"
#include "coll/algorithms/catalogue.hpp"
#include "coll/algorithms/nodes.hpp"
#include "schedules/samples.hpp"

using namespace telpher::coll;
using between::kernel_plan;

namespace {

constexpr std::int32_t most_ranks = 6;
constexpr int blocks = 3;

using clock = std::vector<std::uint32_t>;  // by actor: blocks of ranks, then hosts

void join(clock& to, const clock& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], from[i]);
}

/// What has happened to one element.
struct element {
  std::uint64_t value = 0;
  int writer = -1;
  std::uint32_t written = 0;
  std::vector<std::pair<int, std::uint32_t>> readers;  // since then
};

/// Places of messages are spaces, too.
enum class area : std::uint8_t { input, output, scratch, leaving, coming };

class memory {
 public:
  element& at(std::int32_t rank, area where, std::uint64_t offset) {
    return elements_[{rank, where, offset}];
  }

 private:
  std::map<std::tuple<std::int32_t, area, std::uint64_t>, element> elements_;
};

std::uint64_t input_value(std::int32_t rank, std::uint64_t offset) {
  return (static_cast<std::uint64_t>(rank) + 1) * 1000003 + offset * 7919;
}

// --- the schedule itself, with whole steps ---

class plain_run {
 public:
  plain_run(const problem& p, const std::vector<schedule>& all) : all_(all), next_(all.size(), 0) {
    for (std::int32_t r = 0; r < p.ranks; ++r) in_place_.push_back(aliased(p, r));
    while (std::any_of(all.begin(), all.end(), [this](const schedule& s) {
      return next_[static_cast<std::size_t>(s.rank)] < s.steps.size();
    }))
      for (const schedule& s : all)
        while (next_[static_cast<std::size_t>(s.rank)] < s.steps.size() && take(s)) {
        }
  }
  std::uint64_t& at(const span& s, std::uint64_t i) {
    const bool in = s.where == space::input && !in_place_[static_cast<std::size_t>(s.rank)];
    const auto [known, fresh] = values_.try_emplace({s.rank,
                                                     in                        ? space::input
                                                     : s.where == space::input ? space::output
                                                                               : s.where,
                                                     s.offset + i},
                                                    0);
    if (fresh && s.where != space::scratch) known->second = input_value(s.rank, s.offset + i);
    return known->second;
  }
  bool in_place(std::int32_t rank) const { return in_place_[static_cast<std::size_t>(rank)]; }

 private:
  bool take(const schedule& s) {
    const step& one = s.steps[next_[static_cast<std::size_t>(s.rank)]];
    const std::pair<std::int32_t, std::int32_t> to{s.rank, one.peer}, from{one.peer, s.rank};
    switch (one.kind) {
      case step_kind::copy:
      case step_kind::reduce:
        for (std::uint64_t i = 0; i < one.to.count; ++i) {
          std::uint64_t sum = 0;
          for (const span& source : one.sources) sum += at(source, i);
          at(one.to, i) = sum;
        }
        break;
      case step_kind::signal:
        ++signals_[to];
        break;
      case step_kind::wait:
        if (signals_[from] == 0) return false;
        --signals_[from];
        break;
      case step_kind::send: {
        auto& message = messages_[to].emplace_back();
        for (std::uint64_t i = 0; i < one.sources[0].count; ++i)
          message.push_back(at(one.sources[0], i));
        break;
      }
      case step_kind::receive:
        if (messages_[from].empty()) return false;
        for (std::uint64_t i = 0; i < one.to.count; ++i) at(one.to, i) = messages_[from].front()[i];
        messages_[from].erase(messages_[from].begin());
    }
    ++next_[static_cast<std::size_t>(s.rank)];
    return true;
  }

  const std::vector<schedule>& all_;
  std::vector<std::size_t> next_;
  std::vector<bool> in_place_;
  std::map<std::tuple<std::int32_t, space, std::uint64_t>, std::uint64_t> values_;
  std::map<std::pair<std::int32_t, std::int32_t>, int> signals_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::vector<std::uint64_t>>>
      messages_;
};

// --- as kernels ---

class kernel_run {
 public:
  kernel_run(const problem& p, const std::vector<schedule>& all, plain_run& right)
      : map_(map_of(p)), right_(right) {
    for (const schedule& s : all)
      plans_.push_back(between::plan_for_kernel(s, map_.members_of(map_.node_of(s.rank)),
                                                aliased(p, s.rank), 1));
    const auto ranks = static_cast<std::size_t>(p.ranks);
    clocks_.assign(ranks * (blocks + 1), clock(ranks * (blocks + 1), 0));
    next_.assign(ranks * blocks, 0);
    waits_.resize(ranks * blocks);
    walked_.assign(ranks, 0);
    come_.resize(ranks);
    for (bool moved = true; moved && error_.empty();) {
      moved = false;
      for (std::int32_t r = 0; r < p.ranks; ++r) {
        for (int b = 0; b < blocks; ++b) moved = run_block(r, b) || moved;
        moved = run_host(r) || moved;
      }
    }
    look_at_ends(p);
  }
  const std::string& error() const { return error_; }

 private:
  static std::size_t actor(std::int32_t rank, int block) {
    return static_cast<std::size_t>(rank) * blocks + static_cast<std::size_t>(block);
  }
  std::size_t host(std::int32_t rank) const {
    return plans_.size() * blocks + static_cast<std::size_t>(rank);
  }
  const kernel_plan& plan(std::int32_t rank) const {
    return plans_[static_cast<std::size_t>(rank)];
  }
  /// The rank of that place in a rank's node; -1: its host.
  std::int32_t rank_at(std::int32_t of, std::int32_t place) const {
    const auto& node = map_.members_of(map_.node_of(of));
    return place < static_cast<std::int32_t>(node.size()) ? node[static_cast<std::size_t>(place)]
                                                          : -1;
  }
  void fail(const char* what, std::int32_t rank) {
    if (error_.empty()) error_ = std::string(what) + " at rank " + std::to_string(rank);
  }

  // Accesses.
  element& find(std::int32_t of, const span& s, std::uint64_t i) {
    const std::int32_t rank = rank_at(of, s.rank);
    if (rank < 0)
      return memory_.at(of, s.where == space::scratch ? area::leaving : area::coming, s.offset + i);
    const bool in = s.where == space::input && !right_.in_place(rank);
    element& e = memory_.at(rank,
                            s.where == space::scratch ? area::scratch
                            : in                      ? area::input
                                                      : area::output,
                            s.offset + i);
    if (e.writer < 0 && s.where != space::scratch) e.value = input_value(rank, s.offset + i);
    return e;
  }
  std::uint64_t read(element& e, std::size_t by, std::int32_t rank) {
    const clock& now = clocks_[by];
    if (e.writer >= 0 && now[static_cast<std::size_t>(e.writer)] < e.written)
      fail("an element is read that may not be written yet", rank);
    e.readers.emplace_back(static_cast<int>(by), now[by]);
    return e.value;
  }
  void write(element& e, std::uint64_t value, std::size_t by, std::int32_t rank) {
    const clock& now = clocks_[by];
    if (e.writer >= 0 && now[static_cast<std::size_t>(e.writer)] < e.written)
      fail("an element is written twice without order", rank);
    for (const auto& [reader, when] : e.readers)
      if (now[static_cast<std::size_t>(reader)] < when)
        fail("an element is overwritten that may still be read", rank);
    e = {value, static_cast<int>(by), now[by], {}};
  }

  // Blocks.
  bool run_block(std::int32_t r, int b) {
    const auto& steps = plan(r).steps.steps;
    std::size_t& next = next_[actor(r, b)];
    const std::size_t before = next;
    while (next < steps.size() && error_.empty() && take(r, b, steps[next])) ++next;
    return next != before;
  }
  bool take(std::int32_t r, int b, const step& s) {
    const std::size_t me = actor(r, b);
    ++clocks_[me][me];
    if (s.kind == step_kind::copy || s.kind == step_kind::reduce) return move(r, b, s);
    const std::int32_t peer = rank_at(r, s.peer);
    if (s.kind == step_kind::signal) {
      signals_[{me, peer}].push_back(clocks_[me]);
      return true;
    }
    std::size_t& number = waits_[me][peer];
    if (peer < 0) {
      const auto& come = come_[static_cast<std::size_t>(r)];
      if (come.size() <= number) return false;
      join(clocks_[me], come[number]);
    } else if (peer == r) {
      auto& met = meetings_[{r, number}];
      met[static_cast<std::size_t>(b)] = clocks_[me];
      if (std::any_of(met.begin(), met.end(), [](const clock& c) { return c.empty(); }))
        return false;
      for (const clock& c : met) join(clocks_[me], c);
    } else {
      const auto& sent = signals_[{actor(peer, b), r}];
      if (sent.size() <= number) return false;
      join(clocks_[me], sent[number]);
    }
    ++number;
    return true;
  }
  bool move(std::int32_t r, int b, const step& s) {
    const std::uint64_t n = s.to.count;
    for (std::uint64_t i = n * static_cast<unsigned>(b) / blocks;
         i < n * (static_cast<unsigned>(b) + 1) / blocks; ++i) {
      std::uint64_t sum = 0;
      for (const span& from : s.sources) sum += read(find(r, from, i), actor(r, b), r);
      write(find(r, s.to, i), sum, actor(r, b), r);
    }
    return true;
  }

  // Hosts.
  bool heard(std::int32_t r, std::uint64_t signals) {
    for (int b = 0; b < blocks; ++b)
      if (signals_[{actor(r, b), -1}].size() < signals) return false;
    for (int b = 0; b < blocks && signals > 0; ++b)
      join(clocks_[host(r)], signals_[{actor(r, b), -1}][signals - 1]);
    return true;
  }
  bool run_host(std::int32_t r) {
    std::size_t& next = walked_[static_cast<std::size_t>(r)];
    const auto& messages = plan(r).messages;
    const std::size_t before = next;
    while (next < messages.size() && pass(r, messages[next])) ++next;
    return next != before;
  }
  /// A message that leaves does not hold up the ones behind it in the library. Here it may: the
  /// kernel reaches them later.
  bool pass(std::int32_t r, const kernel_plan::message& m) {
    if (!heard(r, m.after)) return false;
    const std::size_t me = host(r);
    ++clocks_[me][me];
    auto& between = travelling_[m.leaves ? std::pair{r, m.peer} : std::pair{m.peer, r}];
    if (m.leaves) {
      std::vector<std::uint64_t> values;
      for (std::uint64_t i = 0; i < m.count; ++i)
        values.push_back(read(memory_.at(r, area::leaving, m.at + i), me, r));
      between.emplace_back(std::move(values), clocks_[me]);
      return true;
    }
    if (between.empty()) return false;
    join(clocks_[me], between.front().second);
    if (between.front().first.size() != m.count) fail("a message of another length", r);
    for (std::uint64_t i = 0; i < m.count && error_.empty(); ++i)
      write(memory_.at(r, area::coming, m.at + i), between.front().first[i], me, r);
    between.erase(between.begin());
    come_[static_cast<std::size_t>(r)].push_back(clocks_[me]);
    return true;
  }

  void look_at_ends(const problem& p) {
    for (std::int32_t r = 0; r < p.ranks && error_.empty(); ++r) {
      for (int b = 0; b < blocks; ++b)
        if (next_[actor(r, b)] != plan(r).steps.steps.size()) fail("a block stands still", r);
      if (walked_[static_cast<std::size_t>(r)] != plan(r).messages.size())
        fail("a message is left", r);
      for (const step& s : plan(r).steps.steps)
        if ((s.kind == step_kind::copy || s.kind == step_kind::reduce) &&
            s.to.where == space::output && rank_at(r, s.to.rank) == r)
          for (std::uint64_t i = 0; i < s.to.count; ++i)
            if (find(r, s.to, i).value != right_.at({r, space::output, s.to.offset, 1}, i))
              fail("an output differs", r);
    }
  }

  const node_map& map_;
  plain_run& right_;
  std::vector<kernel_plan> plans_;
  memory memory_;
  std::vector<clock> clocks_;
  std::vector<std::size_t> next_, walked_;
  std::vector<std::map<std::int32_t, std::size_t>> waits_;  // of each block, by rank
  std::map<std::pair<std::size_t, std::int32_t>, std::vector<clock>> signals_;
  std::map<std::pair<std::int32_t, std::size_t>, std::array<clock, blocks>> meetings_;
  std::map<std::pair<std::int32_t, std::int32_t>,
           std::vector<std::pair<std::vector<std::uint64_t>, clock>>>
      travelling_;
  std::vector<std::vector<clock>> come_;  // of each host: what it has told its kernel
  std::string error_;
};

}  // namespace

TEST_CASE(every_algorithm_between_nodes_is_ordered_as_a_kernel) {
  for (const algorithm& a : algorithms()) {
    if ((a.restrictions & restriction::between_nodes) == 0) continue;
    int tried = 0;
    for (std::int32_t ranks = 2; ranks <= most_ranks; ++ranks)
      for (const auto& nodes : sample_nodes(ranks))
        for (problem& p : sample_problems(a.what, ranks, sample_depth::full, nodes)) {
          p.commutative = (a.restrictions & commutative_only) != 0;
          if (p.mapped || nodes.empty() || map_of(p).nodes() < 2 || !allows(a, p)) continue;
          ++tried;
          std::vector<schedule> all;
          for (std::int32_t r = 0; r < ranks; ++r) all.push_back(a.make(p, r));
          plain_run right(p, all);
          const kernel_run run(p, all, right);
          if (!run.error().empty())
            check::fail(__FILE__, __LINE__,
                        std::string(to_string(a.what)) + " " + a.name + ", " +
                            std::to_string(ranks) + " ranks, count " + std::to_string(p.count) +
                            ", chunk " + std::to_string(p.chunk) + ": " + run.error());
        }
    CHECK(tried > 0);
  }
}

// Rank 1 has read what rank 0 then overwrites in other slices. A message lies between: so the
// schedule may do that, although only the signals of equal blocks tell rank 0 of the reads.
TEST_CASE(blocks_meet_before_other_slices_of_what_a_peer_has_read) {
  const auto scratch = [](std::uint64_t count) { return span{0, space::scratch, 0, count}; };
  const span in{0, space::input, 0, 4};
  schedule s{.rank = 0, .ranks = 3, .scratch = 6, .steps = {}, .stages = {}};
  s.steps = {{step_kind::wait, 1, {}, {}},
             {step_kind::send, 2, {}, {in}},
             {step_kind::copy, -1, scratch(4), {in}}};
  const auto meets = [&] {
    const kernel_plan k = between::plan_for_kernel(s, {0, 1}, false, 1);
    return std::count_if(k.steps.steps.begin(), k.steps.steps.end(), [](const step& one) {
      return one.kind == step_kind::wait && one.peer == 0;
    });
  };
  CHECK_EQ(meets(), 1);
  s.steps.erase(s.steps.begin() + 1);
  CHECK_EQ(meets(), 0);
}
