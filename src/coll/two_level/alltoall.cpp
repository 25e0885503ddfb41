// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall in two levels, for nodes with equal numbers of ranks. The ranks of a node first
// bring what they send to one rank of another node to its leader of equal index here; leaders then
// exchange few and long messages, compressed where that was asked for. In place is staged: blocks
// would be overwritten before they left.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/coding.hpp"
#include "coll/two_level/linear.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

class transposing {
 public:
  transposing(const call_facts& c, const team& t, phases& p, memory_ref input, memory_ref output,
              coding how)
      : t_(t), p_(p), input_(input), output_(output), how_(how) {
    nodes_ = static_cast<int>(t.among.nodes.size());
    block_ = static_cast<std::int64_t>(c.bytes) / (nodes_ * t.among.locals());
    piece_ = std::min(block_, piece_bytes(t, c.bytes, t.among.locals()));
  }

  void run() {
    const std::int64_t pieces = (block_ + piece_ - 1) / piece_;
    overlapped(
        pieces * nodes_, [&](std::int64_t k, int slot) { send(k, slot); },
        [&](std::int64_t k, int slot) { receive(k, slot); });
  }

 private:
  int distance(std::int64_t k) const { return static_cast<int>(k % nodes_); }
  std::int64_t offset(std::int64_t k) const { return k / nodes_ * piece_; }
  std::int64_t length(std::int64_t k) const { return std::min(piece_, block_ - offset(k)); }

  /// Of what crosses nodes.
  codec::plan plan(std::int64_t k) const {
    return distance(k) == 0 ? codec::plan{} : how_.of(length(k) * t_.among.locals());
  }

  /// A piece of the blocks for, or from, the ranks of a node.
  shares pieces_of(int node, std::int64_t k) const {
    shares s;
    for (const int rank : t_.among.at(node)) {
      s.counts.push_back(length(k));
      s.offsets.push_back(rank * block_ + offset(k));
    }
    return s;
  }

  void send(std::int64_t k, int slot) {
    const int d = distance(k);
    const int to = (t_.among.node + d) % nodes_, from = (t_.among.node + nodes_ - d) % nodes_;
    const std::int64_t bytes = length(k) * t_.among.locals();
    const codec::plan coded = plan(k);
    p_.alltoall(input_, pieces_of(to, k), slot, coded);
    const std::int64_t travels =
        coded ? static_cast<std::int64_t>(codec::most_bytes(coded)) : bytes;
    if (d > 0) p_.exchange_with(to, t_.send_block(slot), travels, from, slot);
  }

  void receive(std::int64_t k, int slot) {
    const int d = distance(k);
    const shares s = pieces_of((t_.among.node + nodes_ - d) % nodes_, k);
    p_.wait(slot);
    if (const codec::plan coded = plan(k))
      p_.spread_coded(output_, s, slot, coded);
    else
      p_.spread(output_, s, d == 0 ? t_.send_block(slot) : t_.receive_block(slot));
  }

  const team& t_;
  phases& p_;
  memory_ref input_, output_;
  coding how_;
  int nodes_;
  std::int64_t block_, piece_;
};

}  // namespace

bool alltoall(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
              MPI_Count count, MPI_Datatype type, MPI_Comm comm, int* code) noexcept {
  int ranks = 0;
  if (send == MPI_IN_PLACE || comm == MPI_COMM_NULL || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS)
    return false;
  linear input(send, send_count * ranks, send_type), output(receive, count * ranks, type);
  if (!worthwhile(operation::alltoall, output.bytes())) return false;
  const call_facts c{"MPI_Alltoall",
                     operation::alltoall,
                     output.bytes(),
                     comm,
                     input.buffer(),
                     output.buffer(),
                     output.contiguous() && input.contiguous()};
  team* t = team_for(c);
  if (!t) return false;
  const memory_ref from = input.open(true), to = output.open(false);
  phases p(c, *t);
  transposing(c, *t, p, from, to, coding::agreed(c, type)).run();
  p.keep(output.close());
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
