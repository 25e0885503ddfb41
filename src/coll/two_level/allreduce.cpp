// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allreduce in two levels. A chunk is reduced and scattered in each node, its shares are summed
// up among leaders of equal index, and gathered in each node. While a chunk is between the nodes
// the next ones are reduced inside.
//
// All ranks of a node get a share from one rank, and the leaders of a share get the host MPI's
// result, so all get the same bits.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

void run(const call_facts& c, const team& t, phases& p, std::int64_t count, const reducing& by) {
  const std::int64_t chunk = chunk_elements(t, c.bytes, by.unit);
  const auto cut = [&](std::int64_t k) {
    return shares::even(std::min(chunk, count - k * chunk), t.among.lanes, t.among.locals(),
                        granule(by.unit));
  };
  const auto at = [&](std::int64_t k) { return static_cast<std::uint64_t>(k * chunk * by.unit); };
  const auto reduce = [&](std::int64_t k, int slot) {
    const shares s = cut(k);
    p.reduce_scatter(c.input + at(k), s, by, slot);
    if (const std::int64_t own = s.count(t.among.index); own > 0)
      p.started(pmpi::Iallreduce(t.send_block(slot).at, t.receive_block(slot).at,
                                 static_cast<int>(own), by.type, by.op, t.leaders,
                                 p.request(slot)));
  };
  const auto gather = [&](std::int64_t k, int slot) {
    p.wait(slot);
    p.allgather(c.output + at(k), cut(k).times(by.unit), t.receive_block(slot));
  };
  overlapped((count + chunk - 1) / chunk, reduce, gather);
}

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
  run(c, *t, p, count, *by);
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
