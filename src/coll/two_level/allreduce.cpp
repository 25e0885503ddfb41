// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce between nodes: a verified schedule (coll/between). Where the values that cross
// nodes are compressed, `summing` does the same with parts that leaders compress: a chunk is
// reduced and scattered in each node, its shares are summed up among leaders of equal index, and
// gathered in each node, while the next chunks are reduced inside.
//
// All ranks of a node get a share from one rank, and all leaders of it have the same brackets, or
// one leader's result in compressed form: all ranks get the same bits.
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

}  // namespace

bool allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, int* code) noexcept {
  if (count <= 0 ||
      !worthwhile(operation::allreduce, static_cast<std::uint64_t>(count) * largest_value))
    return false;
  const auto by = reducing_of(op, type);
  if (!by) return false;
  const bool in_place = send == MPI_IN_PLACE;
  call_facts c{"MPI_Allreduce",
               operation::allreduce,
               static_cast<std::uint64_t>(count * by->unit),
               comm,
               memory_ref::of(in_place ? receive : send),
               memory_ref::of(receive)};
  const reduction sum = exchange::reduction_of(op, type);
  c.prepared = can_reduce(c, sum);
  team* t = team_for(c);
  if (!t) return false;
  const coding how = op == MPI_SUM ? coding::agreed(c, *t, type) : coding{};
  phases p(c, *t);
  if (summing coded(c, *t, p, count, *by, how); coded) {
    coded.run();
    *code = p.finish();
    return true;
  }
  try {
    int rank = 0;
    pmpi::Comm_rank(comm, &rank);
    auto plan = between::choose(problem_of(c, *t, count, by->unit, in_place),
                                static_cast<std::uint64_t>(by->unit), t->among.lanes, rank);
    if (!plan) return false;
    const status s = between::run_blocking(
        *t->room, {c.name, std::move(plan->own), static_cast<std::uint64_t>(by->unit), sum, c.input,
                   c.output});
    *code = failed(s) ? host_mpi::fail(comm, c.name, s, "a collective between nodes failed")
                      : MPI_SUCCESS;
    if (!failed(s)) path::count(path::kind::coll_levels, c.bytes);
    return true;
  } catch (const std::bad_alloc&) {
    TELPHER_ERROR("%s: no memory for its schedule, while the other ranks run theirs", c.name);
    pmpi::Abort(comm, 1);
    return false;
  }
}

}  // namespace telpher::coll::two_level
