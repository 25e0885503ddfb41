// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall and MPI_Alltoallv in two levels, for nodes with equal numbers of ranks. The ranks of
// a node first bring what they send to one rank of another node to its leader of equal index here;
// leaders then exchange few and long messages, compressed where that was asked for. In place is
// staged: blocks would be overwritten before they left.
#include <numeric>

#include "coll/two_level/calls.hpp"
#include "coll/two_level/coding.hpp"
#include "coll/two_level/linear.hpp"
#include "coll/two_level/phases.hpp"
#include "host_mpi/error.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::coll::two_level {
namespace {

/// What this rank sends and gets, and what passes through it: the bytes that each rank of its node
/// sends to each leader of its index, node by node.
struct traffic {
  shares out, in;  // a block for each rank
  std::vector<std::vector<std::int64_t>> through;
  std::int64_t longest = 0;  // of all blocks of all ranks
};

class transposing {
 public:
  transposing(const team& t, phases& p, memory_ref input, memory_ref output, const traffic& what,
              std::uint64_t bytes, const coding& how)
      : t_(t), p_(p), input_(input), output_(output), what_(what), how_(how) {
    nodes_ = static_cast<int>(t.among.nodes.size());
    piece_ = std::min(what.longest, piece_bytes(t, bytes, t.among.locals()));
  }

  void run() {
    const std::int64_t pieces = (what_.longest + piece_ - 1) / piece_;
    overlapped(
        pieces * nodes_, [&](std::int64_t k, int slot) { send(k, slot); },
        [&](std::int64_t k, int slot) { receive(k, slot); });
  }

 private:
  int distance(std::int64_t k) const { return static_cast<int>(k % nodes_); }
  int receiver(std::int64_t k) const { return (t_.among.node + distance(k)) % nodes_; }
  int sender(std::int64_t k) const { return (t_.among.node + nodes_ - distance(k)) % nodes_; }
  std::int64_t offset(std::int64_t k) const { return k / nodes_ * piece_; }
  /// What a block has in a piece.
  std::int64_t length(std::int64_t block, std::int64_t k) const {
    return std::clamp<std::int64_t>(block - offset(k), 0, piece_);
  }

  /// Of what crosses nodes.
  codec::plan plan(std::int64_t k, std::int64_t bytes) const {
    return distance(k) == 0 ? codec::plan{} : how_.of(bytes);
  }

  /// A piece of the blocks for, or from, the ranks of a node.
  shares pieces_of(const shares& all, int node, std::int64_t k) const {
    shares s;
    for (const int rank : t_.among.at(node)) {
      s.counts.push_back(length(all.count(rank), k));
      s.offsets.push_back(all.offset(rank) + (s.counts.back() > 0 ? offset(k) : 0));
    }
    return s;
  }
  /// Of the blocks that pass through this rank to a node.
  shares passing(int node, std::int64_t k) const {
    shares s;
    for (const std::int64_t block : what_.through[static_cast<std::size_t>(node)])
      s.counts.push_back(length(block, k));
    s.offsets.resize(s.counts.size());
    return s.dense();
  }

  void send(std::int64_t k, int slot) {
    const shares through = passing(receiver(k), k);
    p_.alltoall(input_, pieces_of(what_.out, receiver(k), k), through, slot,
                plan(k, through.total()));
    if (distance(k) == 0) return;
    p_.receive_from(sender(k), how_.travels(pieces_of(what_.in, sender(k), k).total()), slot);
    p_.send_to(receiver(k), t_.send_block(slot), how_.travels(through.total()), slot);
  }

  void receive(std::int64_t k, int slot) {
    const shares s = pieces_of(what_.in, sender(k), k);
    p_.wait(slot);
    if (const codec::plan coded = plan(k, s.total()))
      p_.spread_coded(output_, s, slot, coded);
    else
      p_.spread(output_, s, distance(k) == 0 ? t_.send_block(slot) : t_.receive_block(slot));
  }

  const team& t_;
  phases& p_;
  memory_ref input_, output_;
  const traffic& what_;
  const coding& how_;
  int nodes_;
  std::int64_t piece_;
};

/// From the blocks of this rank all else. Collective.
status learn(const team& t, traffic& what) {
  const std::size_t nodes = t.among.nodes.size(), locals = t.among.own_node().size();
  std::vector<std::int64_t> sent, told(nodes * locals);
  for (std::size_t l = 0; l < locals; ++l)
    for (const std::vector<int>& node : t.among.nodes) sent.push_back(what.out.count(node[l]));
  ticket::blocking_call blocked;
  const int n = static_cast<int>(nodes);
  if (pmpi::Alltoall(sent.data(), n, MPI_INT64_T, told.data(), n, MPI_INT64_T, t.local) !=
      MPI_SUCCESS)
    return status::host_mpi_error;
  what.through.resize(nodes);
  for (std::size_t i = 0; i < told.size(); ++i) what.through[i % nodes].push_back(told[i]);
  what.longest = largest_everywhere(t.comm, *std::max_element(sent.begin(), sent.end()));
  return what.longest < 0 ? status::host_mpi_error : status::ok;
}

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
  traffic what;
  what.longest = static_cast<std::int64_t>(c.bytes) / ranks;
  what.out = what.in = shares::even(static_cast<std::int64_t>(c.bytes), ranks, ranks, 1);
  what.through.assign(t->among.nodes.size(),
                      std::vector<std::int64_t>(t->among.own_node().size(), what.longest));
  const memory_ref from = input.open(true), to = output.open(false);
  phases p(c, *t);
  transposing(*t, p, from, to, what, c.bytes, coding::agreed(c, *t, type)).run();
  p.keep(output.close());
  *code = p.finish();
  return true;
}

// Counts differ between ranks, so nobody knows how large the call is: the ways of alltoallv do not
// depend on it.
bool alltoallv(const void* send, numbers send_counts, numbers send_displacements,
               MPI_Datatype send_type, void* receive, numbers counts, numbers displacements,
               MPI_Datatype type, MPI_Comm comm, int* code) noexcept {
  int ranks = 0;
  if (send == MPI_IN_PLACE || !spans_nodes(comm) || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS ||
      !worthwhile(operation::alltoallv, any_size))
    return false;
  ragged input(send, ranks, send_counts, send_displacements, send_type);
  ragged output(receive, ranks, counts, displacements, type);
  const call_facts c{
      "MPI_Alltoallv", operation::alltoallv, std::max(input.total(), output.total()),   comm,
      input.buffer(),  output.buffer(),      output.contiguous() && input.contiguous(), true};
  team* t = team_for(c);
  if (!t) return false;
  traffic what{{input.bytes(), input.offsets()}, {output.bytes(), output.offsets()}, {}, 0};
  if (const status s = learn(*t, what); failed(s)) {
    *code = host_mpi::fail(comm, c.name, s, "the ranks could not tell each other their counts");
    return true;
  }
  // As if all blocks were the longest, so that all ranks cut them alike.
  call_facts even = c;
  even.bytes = static_cast<std::uint64_t>(what.longest * ranks);
  const memory_ref from = input.open(true), to = output.open(false);
  phases p(c, *t);
  if (what.longest > 0)
    transposing(*t, p, from, to, what, even.bytes, coding::agreed(even, *t, type)).run();
  p.keep(output.close());
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
