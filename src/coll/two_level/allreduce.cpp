// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce in two levels. A chunk is reduced and scattered in each node, its shares are summed
// up among leaders of equal index, and gathered in each node. While a chunk is between the nodes
// the next ones are reduced inside.
//
// All ranks of a node get a share from one rank, and the leaders of a share get the host MPI's
// result, or that of one leader in compressed form, so all get the same bits.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/coded_sum.hpp"

namespace telpher::coll::two_level {
namespace {

class summing {
 public:
  summing(const call_facts& c, const team& t, phases& p, std::int64_t count, const reducing& by,
          const coding& how)
      : c_(c), t_(t), p_(p), count_(count), by_(by), coded_(t, p, how, by, each(how)) {
    chunk_ = chunk(coded_ ? coded_sum::granule(t) : granule(by.unit));
  }

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
    const memory_ref block = coded_ ? t_.device_block(slot) : t_.send_block(slot);
    p_.reduce_scatter(c_.input + at(k), cut(k), by_, block, slot);
    const std::int64_t values = own(k);
    if (values == 0) return;
    if (!coded_)
      return p_.started(pmpi::Iallreduce(block.at, t_.receive_block(slot).at,
                                         static_cast<int>(values), by_.type, by_.op, t_.leaders,
                                         p_.request(slot)));
    const std::int64_t part = coded_.part(values);
    coded_.fill_up(block, values, part * static_cast<std::int64_t>(t_.among.nodes.size()));
    coded_.scatter(part, slot);
  }

  void pass_on(std::int64_t k, int slot) {
    if (!coded_ || own(k) == 0) return;
    p_.wait(slot);
    coded_.reduce(coded_.part(own(k)), slot);
    coded_.gather(coded_.part(own(k)), slot);
  }

  void gather(std::int64_t k, int slot) {
    p_.wait(slot);
    const bool decoded = coded_ && own(k) > 0;
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

}  // namespace

bool allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, int* code) noexcept {
  if (count <= 0 ||
      !worthwhile(operation::allreduce, static_cast<std::uint64_t>(count) * largest_value))
    return false;
  const auto by = reducing_of(op, type);
  if (!by) return false;
  const call_facts c{"MPI_Allreduce",
                     operation::allreduce,
                     static_cast<std::uint64_t>(count * by->unit),
                     comm,
                     memory_ref::of(send == MPI_IN_PLACE ? receive : send),
                     memory_ref::of(receive)};
  team* t = team_for(c);
  if (!t) return false;
  phases p(c, *t);
  const coding how = op == MPI_SUM ? coding::agreed(c, *t, type) : coding{};
  summing(c, *t, p, count, *by, how).run();
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
