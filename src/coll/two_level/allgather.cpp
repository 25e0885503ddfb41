// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgather in two levels, for nodes with equal numbers of ranks. A rank sends its block, piece
// by piece, to the rank of its index in each other node, so every block enters a node once; what
// has come in is gathered in the node while the next pieces are under way. A piece that is
// compressed is so once, for all nodes, and its own node takes the decompressed values as well: all
// ranks get the same bits.
#include "coll/two_level/calls.hpp"
#include "coll/two_level/coding.hpp"
#include "coll/two_level/linear.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

/// Step by step: piece after piece, each first in the own node, then from node to node.
class gathering {
 public:
  gathering(const call_facts& c, const team& t, phases& p, memory_ref own, memory_ref output,
            coding how)
      : t_(t), p_(p), own_(own), output_(output), how_(how) {
    nodes_ = static_cast<int>(t.among.nodes.size());
    block_ = static_cast<std::int64_t>(c.bytes) / (nodes_ * t.among.locals());
    piece_ = std::min(block_, piece_bytes(t, c.bytes, 1));
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
  std::int64_t travels(std::int64_t k) const {
    const codec::plan p = how_.of(length(k));
    return p ? static_cast<std::int64_t>(codec::most_bytes(p)) : length(k);
  }

  // A piece stays in its block for all the nodes that it goes to.
  void send(std::int64_t k, int slot) {
    const int d = distance(k), piece_slot = static_cast<int>(k / nodes_ % team::slots);
    if (d == 0) return load(own_ + static_cast<std::uint64_t>(offset(k)), k, piece_slot);
    const int to = (t_.among.node + d) % nodes_, from = (t_.among.node + nodes_ - d) % nodes_;
    p_.exchange_with(to, t_.send_block(piece_slot), travels(k), from, slot);
  }

  void load(memory_ref piece, std::int64_t k, int slot) {
    if (const codec::plan coded = how_.of(length(k)))
      p_.load_coded(piece, slot, coded);
    else
      p_.load(piece, length(k), slot);
  }

  void receive(std::int64_t k, int slot) {
    const int d = distance(k), from = (t_.among.node + nodes_ - d) % nodes_;
    p_.wait(slot);
    shares s;
    for (const int rank : t_.among.at(from)) {
      s.counts.push_back(length(k));
      s.offsets.push_back(rank * block_ + offset(k));
    }
    const int piece_slot = static_cast<int>(k / nodes_ % team::slots);
    p_.allgather(output_, s, d == 0 ? t_.send_block(piece_slot) : t_.receive_block(slot),
                 how_.of(length(k)));
  }

  const team& t_;
  phases& p_;
  memory_ref own_, output_;
  coding how_;
  int nodes_;
  std::int64_t block_, piece_;
};

}  // namespace

bool allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
               MPI_Count count, MPI_Datatype type, MPI_Comm comm, int* code) noexcept {
  int ranks = 0, own_rank = 0;
  if (comm == MPI_COMM_NULL || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS) return false;
  linear output(receive, count * ranks, type);
  if (!worthwhile(operation::allgather, output.bytes())) return false;
  const bool in_place = send == MPI_IN_PLACE;
  linear input(in_place ? receive : send, in_place ? count : send_count,
               in_place ? type : send_type);
  const call_facts c{"MPI_Allgather",
                     operation::allgather,
                     output.bytes(),
                     comm,
                     input.buffer(),
                     output.buffer(),
                     output.contiguous() && input.contiguous()};
  team* t = team_for(c);
  if (!t) return false;
  pmpi::Comm_rank(comm, &own_rank);
  const std::uint64_t block = output.bytes() / static_cast<std::uint64_t>(ranks);
  const memory_ref to = output.open(in_place);
  const memory_ref from =
      in_place ? to + block * static_cast<std::uint64_t>(own_rank) : input.open(true);
  phases p(c, *t);
  gathering(c, *t, p, from, to, coding::agreed(c, type)).run();
  p.keep(output.close());
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
