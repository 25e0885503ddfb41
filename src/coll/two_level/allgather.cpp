// SPDX-License-Identifier: BSD-3-Clause
// MPI_Allgather and MPI_Allgatherv in two levels, for nodes with equal numbers of ranks. A rank
// sends its block, piece by piece, to the rank of its index in each other node, so every block
// enters a node once; what has come in is gathered in the node while the next pieces are under way.
// A piece that is compressed is so once, for all nodes, and its own node takes the decompressed
// values as well: all ranks get the same bits.
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
            const shares& all, const coding& how)
      : t_(t), p_(p), own_(own), output_(output), all_(all), how_(how) {
    nodes_ = static_cast<int>(t.among.nodes.size());
    longest_ = *std::max_element(all.counts.begin(), all.counts.end());
    piece_ = std::min(longest_, piece_bytes(t, c.bytes, 1));
  }

  void run() {
    const std::int64_t pieces = (longest_ + piece_ - 1) / piece_;
    overlapped(
        pieces * nodes_, [&](std::int64_t k, int slot) { send(k, slot); },
        [&](std::int64_t k, int slot) { receive(k, slot); });
  }

 private:
  int distance(std::int64_t k) const { return static_cast<int>(k % nodes_); }
  int sender(std::int64_t k) const { return (t_.among.node + nodes_ - distance(k)) % nodes_; }
  std::int64_t offset(std::int64_t k) const { return k / nodes_ * piece_; }
  /// What a rank's block has in a piece.
  std::int64_t length(int rank, std::int64_t k) const {
    return std::clamp<std::int64_t>(all_.count(rank) - offset(k), 0, piece_);
  }
  /// In the block of the rank of this one's index.
  std::int64_t length_of(int node, std::int64_t k) const {
    return length(t_.among.at(node)[static_cast<std::size_t>(t_.among.index)], k);
  }

  // A piece stays in its block for all the nodes that it goes to.
  void send(std::int64_t k, int slot) {
    const int d = distance(k), piece_slot = static_cast<int>(k / nodes_ % team::slots);
    const std::int64_t own = length_of(t_.among.node, k);
    if (d == 0) return load(own_ + static_cast<std::uint64_t>(offset(k)), own, piece_slot);
    p_.receive_from(sender(k), how_.travels(length_of(sender(k), k)), slot);
    p_.send_to((t_.among.node + d) % nodes_, t_.send_block(piece_slot), how_.travels(own), slot);
  }

  void load(memory_ref piece, std::int64_t bytes, int slot) {
    if (const codec::plan coded = how_.of(bytes))
      p_.load_coded(piece, slot, coded);
    else
      p_.load(piece, bytes, slot);
  }

  void receive(std::int64_t k, int slot) {
    p_.wait(slot);
    shares s;
    for (const int rank : t_.among.at(sender(k))) {
      s.counts.push_back(length(rank, k));
      s.offsets.push_back(all_.offset(rank) + (s.counts.back() > 0 ? offset(k) : 0));
    }
    const int piece_slot = static_cast<int>(k / nodes_ % team::slots);
    p_.allgather(output_, s, distance(k) == 0 ? t_.send_block(piece_slot) : t_.receive_block(slot),
                 how_.of(s.count(t_.among.index)));
  }

  const team& t_;
  phases& p_;
  memory_ref own_, output_;
  const shares& all_;  // the blocks of all ranks, and where they lie in this rank's output
  const coding& how_;
  int nodes_;
  std::int64_t longest_, piece_;
};

/// The whole call, from this rank's block in `input` (none: in place, in `output`) to its code.
template <class Output>
int gather(const call_facts& c, team& t, linear* input, Output& output, const shares& all,
           MPI_Datatype type) noexcept {
  int own_rank = 0;
  pmpi::Comm_rank(c.comm, &own_rank);
  const memory_ref to = output.open(input == nullptr);
  const memory_ref from =
      input ? input->open(true) : to + static_cast<std::uint64_t>(all.offset(own_rank));
  phases p(c, t);
  gathering(c, t, p, from, to, all, coding::agreed(c, t, type)).run();
  p.keep(output.close());
  return p.finish();
}

}  // namespace

bool allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
               MPI_Count count, MPI_Datatype type, MPI_Comm comm, int* code) noexcept {
  int ranks = 0;
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
  const shares all = shares::even(static_cast<std::int64_t>(c.bytes), ranks, ranks, 1);
  *code = gather(c, *t, in_place ? nullptr : &input, output, all, type);
  return true;
}

bool allgatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                numbers counts, numbers displacements, MPI_Datatype type, MPI_Comm comm,
                int* code) noexcept {
  int ranks = 0;
  if (!spans_nodes(comm) || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS) return false;
  ragged output(receive, ranks, counts, displacements, type);
  if (!worthwhile(operation::allgatherv, output.total())) return false;
  const bool in_place = send == MPI_IN_PLACE;
  linear input(in_place ? nullptr : send, in_place ? 0 : send_count, send_type);
  const call_facts c{"MPI_Allgatherv",
                     operation::allgatherv,
                     output.total(),
                     comm,
                     input.buffer(),
                     output.buffer(),
                     output.contiguous() && (input.bytes() == 0 || input.contiguous())};
  team* t = team_for(c);
  if (!t) return false;
  const shares all{output.bytes(), output.offsets()};
  *code = gather(c, *t, in_place ? nullptr : &input, output, all, type);
  return true;
}

}  // namespace telpher::coll::two_level
