// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce in two levels: as MPI_Allreduce, but leaders reduce to the root's node, and its ranks
// gather the shares at the root.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

void run(const call_facts& c, const team& t, phases& p, std::int64_t count, const reducing& by,
         shape::seat root) {
  const std::int64_t chunk = chunk_elements(t, c.bytes, by.unit, granule(by.unit));
  const auto cut = [&](std::int64_t k) {
    return shares::even(std::min(chunk, count - k * chunk), t.among.lanes, t.among.locals(),
                        granule(by.unit));
  };
  const auto at = [&](std::int64_t k) { return static_cast<std::uint64_t>(k * chunk * by.unit); };
  const auto reduce = [&](std::int64_t k, int slot) {
    const shares s = cut(k);
    p.reduce_scatter(c.input + at(k), s, by, t.send_block(slot), slot);
    if (const std::int64_t own = s.count(t.among.index); own > 0)
      p.started(pmpi::Ireduce(t.send_block(slot).at, t.receive_block(slot).at,
                              static_cast<int>(own), by.type, by.op, root.node, t.leaders,
                              p.request(slot)));
  };
  const auto gather = [&](std::int64_t k, int slot) {
    p.wait(slot);
    if (t.among.node != root.node) return;
    const bool here = t.among.index == root.index;
    p.gather(here ? c.output + at(k) : memory_ref{}, cut(k).times(by.unit), root.index, slot);
  };
  overlapped((count + chunk - 1) / chunk, reduce, gather);
}

}  // namespace

bool reduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
            int root, MPI_Comm comm, int* code) noexcept {
  if (count <= 0 || root < 0 || comm == MPI_COMM_NULL ||
      !worthwhile(operation::reduce, static_cast<std::uint64_t>(count) * largest_value))
    return false;
  const auto by = reducing_of(op, type);
  if (!by) return false;
  const auto bytes = static_cast<std::uint64_t>(count * by->unit);
  if (!worthwhile(operation::reduce, bytes)) return false;
  int ranks = 0, own_rank = 0;
  pmpi::Comm_size(comm, &ranks);
  pmpi::Comm_rank(comm, &own_rank);
  const call_facts c{"MPI_Reduce",
                     operation::reduce,
                     bytes,
                     comm,
                     memory_ref::of(send == MPI_IN_PLACE ? receive : send),
                     own_rank == root ? memory_ref::of(receive) : memory_ref{}};
  team* t = root < ranks ? team_for(c) : nullptr;
  if (!t) return false;
  phases p(c, *t);
  run(c, *t, p, count, *by, t->among.seat_of(root));
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
