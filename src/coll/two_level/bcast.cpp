// SPDX-License-Identifier: BSD-3-Clause
// MPI_Bcast in two levels. In the root's node a chunk goes to all; its ranks then broadcast a share
// each to the leaders of their index, and the other nodes gather the shares.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/linear.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

void run(const call_facts& c, const team& t, phases& p, memory_ref buffer, shape::seat root) {
  const auto bytes = static_cast<std::int64_t>(c.bytes);
  const std::int64_t chunk = chunk_elements(t, c.bytes, 1, granule(1));
  const bool roots_node = t.among.node == root.node;
  const auto cut = [&](std::int64_t k) {
    return shares::even(std::min(chunk, bytes - k * chunk), t.among.lanes, t.among.locals(),
                        granule(1));
  };
  const auto at = [&](std::int64_t k) { return buffer + static_cast<std::uint64_t>(k * chunk); };
  const auto spread = [&](std::int64_t k, int slot) {
    const shares s = cut(k);
    const std::int64_t own = s.count(t.among.index);
    if (roots_node) {
      p.bcast(at(k), s.total(), root.index);
      p.load(at(k) + static_cast<std::uint64_t>(s.offset(t.among.index)), own, slot);
    }
    const memory_ref block = roots_node ? t.send_block(slot) : t.receive_block(slot);
    if (own > 0)
      p.started(pmpi::Ibcast(block.at, static_cast<int>(own), MPI_BYTE, root.node, t.leaders,
                             p.request(slot)));
  };
  const auto gather = [&](std::int64_t k, int slot) {
    p.wait(slot);
    if (!roots_node) p.allgather(at(k), cut(k), t.receive_block(slot));
  };
  overlapped((bytes + chunk - 1) / chunk, spread, gather);
}

}  // namespace

bool bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
           int* code) noexcept {
  linear data(buffer, count, type);
  if (root < 0 || comm == MPI_COMM_NULL || !worthwhile(operation::bcast, data.bytes()))
    return false;
  const call_facts c{"MPI_Bcast", operation::bcast, data.bytes(), comm, data.buffer(),
                     {},          data.contiguous()};
  int ranks = 0, own_rank = 0;
  pmpi::Comm_size(comm, &ranks);
  pmpi::Comm_rank(comm, &own_rank);
  team* t = root < ranks ? team_for(c) : nullptr;
  if (!t) return false;
  phases p(c, *t);
  run(c, *t, p, data.open(own_rank == root), t->among.seat_of(root));
  if (own_rank != root) p.keep(data.close());
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
