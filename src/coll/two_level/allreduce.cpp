// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce between nodes: a verified schedule (coll/between). Where the values that cross
// nodes are compressed, `summing` does the same with parts that leaders compress: a chunk is
// reduced and scattered in each node, its shares are summed up among leaders of equal index, and
// gathered in each node, while the next chunks are reduced inside.
//
// All ranks of a node get a share from one rank, and all leaders of it have the same brackets, or
// one leader's result in compressed form: all ranks get the same bits.
#include <limits>
#include <optional>

#include "base/log.hpp"
#include "coll/between/plans.hpp"
#include "coll/between/runner.hpp"
#include "coll/exchange/exchange.hpp"
#include "coll/two_level/calls.hpp"
#include "coll/two_level/coded_sum.hpp"
#include "host_mpi/error.hpp"
#include "path/path.hpp"

namespace telpher::coll::two_level {
namespace {

class summing {
 public:
  summing(const call_facts& c, const team& t, phases& p, std::int64_t count, const reducing& by,
          const coding& how)
      : c_(c), t_(t), p_(p), count_(count), by_(by), coded_(t, p, how, by, each(how)) {
    chunk_ = chunk(coded_sum::granule(t));
  }
  /// Whether it pays.
  explicit operator bool() const noexcept { return static_cast<bool>(coded_); }

  void run() {
    overlapped((count_ + chunk_ - 1) / chunk_, [&](std::int64_t k, int slot) { reduce(k, slot); },
               [&](std::int64_t k, int slot) { pass_on(k, slot); },
               [&](std::int64_t k, int slot) { gather(k, slot); });
  }

 private:
  std::int64_t chunk(std::int64_t granule) const {
    return chunk_elements(t_, c_.bytes, by_.unit, granule);
  }
  /// A leader's values if chunks are such that they can be compressed; 0: blocks are too small.
  std::int64_t each(const coding& how) const {
    const std::int64_t largest = how ? chunk(coded_sum::granule(t_)) : 0;
    return std::min(largest, count_) / t_.among.lanes;
  }
  shares cut(std::int64_t k) const {
    return shares::even(std::min(chunk_, count_ - k * chunk_), t_.among.lanes, t_.among.locals(),
                        granule(by_.unit));
  }
  std::int64_t own(std::int64_t k) const { return cut(k).count(t_.among.index); }
  std::uint64_t at(std::int64_t k) const {
    return static_cast<std::uint64_t>(k * chunk_ * by_.unit);
  }

  void reduce(std::int64_t k, int slot) {
    const memory_ref block = t_.device_block(slot);
    p_.reduce_scatter(c_.input + at(k), cut(k), by_, block, slot);
    const std::int64_t values = own(k);
    if (values == 0) return;
    const std::int64_t part = coded_.part(values);
    coded_.fill_up(block, values, part * static_cast<std::int64_t>(t_.among.nodes.size()));
    coded_.scatter(part, slot);
  }

  void pass_on(std::int64_t k, int slot) {
    if (own(k) == 0) return;
    p_.wait(slot);
    coded_.reduce(coded_.part(own(k)), slot);
    coded_.gather(coded_.part(own(k)), slot);
  }

  void gather(std::int64_t k, int slot) {
    p_.wait(slot);
    const bool decoded = own(k) > 0;
    const memory_ref sums =
        decoded ? coded_.sums(coded_.part(own(k)), slot) : t_.receive_block(slot);
    p_.allgather(c_.output + at(k), cut(k).times(by_.unit), sums);
  }

  const call_facts& c_;
  const team& t_;
  phases& p_;
  std::int64_t count_;
  const reducing& by_;
  coded_sum coded_;
  std::int64_t chunk_ = 0;
};

problem problem_of(const call_facts& c, const team& t, std::int64_t count, std::int64_t unit,
                   bool in_place) {
  problem p;
  p.what = c.what;
  p.count = static_cast<std::uint64_t>(count);
  p.in_place = in_place;
  p.mapped = false;
  p.granule = static_cast<std::uint64_t>(granule(unit));
  p.ranks = 0;
  for (const auto& node : t.among.nodes) p.ranks += static_cast<int>(node.size());
  p.node_of.resize(static_cast<std::size_t>(p.ranks));
  for (std::size_t n = 0; n < t.among.nodes.size(); ++n)
    for (const int r : t.among.nodes[n])
      p.node_of[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(n);
  return p;
}

/// What is asked of the devices and of the ranks; none where no schedule serves.
struct request {
  call_facts facts;
  std::int64_t count;
  std::int64_t unit;
  reduction by;
  bool in_place;
};

std::optional<request> request_of(const char* name, const void* send, void* receive,
                                  MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const auto by = reducing_of(op, type);
  if (!by) return std::nullopt;
  const bool in_place = send == MPI_IN_PLACE;
  const call_facts c{name,
                     operation::allreduce,
                     static_cast<std::uint64_t>(count * by->unit),
                     comm,
                     memory_ref::of(in_place ? receive : send),
                     memory_ref::of(receive)};
  request r{c, count, by->unit, exchange::reduction_of(op, type), in_place};
  r.facts.prepared = can_reduce(c, r.by);
  return r;
}

/// None at all ranks alike.
std::optional<between::call> call_of(const request& r, const team& t) {
  int rank = 0;
  pmpi::Comm_rank(r.facts.comm, &rank);
  const auto unit = static_cast<std::uint64_t>(r.unit);
  auto plan = between::choose(problem_of(r.facts, t, r.count, r.unit, r.in_place), unit,
                              t.among.lanes, rank);
  if (!plan) return std::nullopt;
  return between::call{r.facts.name, std::move(plan->own), unit,
                       r.by,         r.facts.input,        r.facts.output};
}

/// The other ranks are on their way.
void give_up(const char* name, MPI_Comm comm) noexcept {
  TELPHER_ERROR("%s: no memory for its schedule, while the other ranks run theirs", name);
  pmpi::Abort(comm, 1);
}

bool ran_compressed(const request& r, team& t, MPI_Datatype type, MPI_Op op, int* code) noexcept {
  const coding how = op == MPI_SUM ? coding::agreed(r.facts, t, type) : coding{};
  if (!how) return false;
  const reducing by{type, op, r.unit};
  phases p(r.facts, t);
  summing sum(r.facts, t, p, r.count, by, how);
  if (!sum) return false;
  sum.run();
  *code = p.finish();
  return true;
}

}  // namespace

bool allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, int* code) noexcept {
  constexpr const char* name = "MPI_Allreduce";
  if (count <= 0 ||
      !worthwhile(operation::allreduce, static_cast<std::uint64_t>(count) * largest_value))
    return false;
  const auto r = request_of(name, send, receive, count, type, op, comm);
  team* t = r ? team_for(r->facts) : nullptr;
  if (!t) return false;
  if (ran_compressed(*r, *t, type, op, code)) return true;
  try {
    auto call = call_of(*r, *t);
    if (!call) return false;
    t->settle(name, false);
    const status s = between::run_blocking(*t->room, std::move(*call));
    *code = failed(s) ? host_mpi::fail(comm, name, s, "a collective between nodes failed")
                      : MPI_SUCCESS;
    if (!failed(s)) path::count(path::kind::coll_levels, r->facts.bytes);
  } catch (const std::bad_alloc&) {
    give_up(name, comm);
  }
  return true;
}

// Where a blocking call has made the team, and only if the user asks for two levels: what a rank
// decides here all decide alike.
std::shared_ptr<between::crossing> iallreduce(const void* send, void* receive, MPI_Count count,
                                              MPI_Datatype type, MPI_Op op,
                                              MPI_Comm comm) noexcept {
  constexpr const char* name = "MPI_Iallreduce";
  if (count <= 0 || count > std::numeric_limits<int>::max() || !worthwhile(operation::allreduce, 1))
    return nullptr;
  team* t = made_team(comm);
  const auto r = t ? request_of(name, send, receive, count, type, op, comm) : std::nullopt;
  if (!r) return nullptr;
  try {
    auto call = call_of(*r, *t);
    if (!call) return nullptr;
    const between::crossing::host_terms host{
        static_cast<int>(count), type, op, r->in_place, r->facts.bytes, r->facts.prepared};
    auto made = std::make_shared<between::crossing>(*t->room, std::move(*call), host);
    auto held = ticket::progress().lock();
    t->crossings.add(made);
    return made;
  } catch (const std::bad_alloc&) {
    give_up(name, comm);
    return nullptr;
  }
}

}  // namespace telpher::coll::two_level
