// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter_block in two levels, for nodes with equal numbers of consecutive ranks. The
// blocks of one node after the other are reduced in each node, and then by the leaders to the
// node that they belong to.
//
// In place the result goes to the front of the input: what lies there was read in an earlier chunk,
// or in the same one (nodes are taken in the order of their ranks).
#include "coll/two_level/calls.hpp"
#include "coll/two_level/phases.hpp"

namespace telpher::coll::two_level {
namespace {

class scattering {
 public:
  scattering(const call_facts& c, const team& t, phases& p, std::int64_t count, const reducing& by)
      : c_(c), t_(t), p_(p), by_(by), count_(count), of_node_(count * t.among.locals()) {
    const std::int64_t most = piece_bytes(t, c.bytes, 1) / by.unit;
    chunk_ = count <= most ? of_node_ : most;
    chunks_ = (of_node_ + chunk_ - 1) / chunk_;
  }

  void run() {
    const auto nodes = static_cast<std::int64_t>(t_.among.nodes.size());
    overlapped(
        nodes * chunks_, [&](std::int64_t k, int slot) { reduce(k, slot); },
        [&](std::int64_t k, int slot) { place(k, slot); });
  }

 private:
  int node(std::int64_t k) const { return static_cast<int>(k / chunks_); }
  std::int64_t first(std::int64_t k) const { return k % chunks_ * chunk_; }

  /// What of a chunk of a node's blocks belongs to each of its ranks.
  shares cut(std::int64_t k) const {
    const std::int64_t from = first(k), to = std::min(from + chunk_, of_node_);
    shares s;
    for (std::int64_t r = 0; r < t_.among.locals(); ++r) {
      const std::int64_t low = std::clamp(r * count_, from, to);
      const std::int64_t high = std::clamp((r + 1) * count_, from, to);
      s.offsets.push_back(low - from);
      s.counts.push_back(high - low);
    }
    return s;
  }

  void reduce(std::int64_t k, int slot) {
    const shares s = cut(k);
    const std::int64_t at = (node(k) * of_node_ + first(k)) * by_.unit;
    p_.reduce_scatter(c_.input + static_cast<std::uint64_t>(at), s, by_, slot);
    if (const std::int64_t own = s.count(t_.among.index); own > 0)
      p_.started(pmpi::Ireduce(t_.send_block(slot).at, t_.receive_block(slot).at,
                               static_cast<int>(own), by_.type, by_.op, node(k), t_.leaders,
                               p_.request(slot)));
  }

  void place(std::int64_t k, int slot) {
    p_.wait(slot);
    if (node(k) != t_.among.node) return;
    const shares s = cut(k);
    const std::int64_t at = first(k) + s.offset(t_.among.index) - t_.among.index * count_;
    const std::int64_t own = s.count(t_.among.index);
    if (own > 0)
      p_.store(c_.output + static_cast<std::uint64_t>(at * by_.unit), own * by_.unit, slot);
  }

  const call_facts& c_;
  const team& t_;
  phases& p_;
  const reducing& by_;
  std::int64_t count_, of_node_, chunk_, chunks_;
};

}  // namespace

bool reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, int* code) noexcept {
  int ranks = 0;
  if (count <= 0 || comm == MPI_COMM_NULL || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS)
    return false;
  const auto most = static_cast<std::uint64_t>(count * ranks) * largest_value;
  if (!worthwhile(operation::reduce_scatter_block, most)) return false;
  const auto by = reducing_of(op, type);
  if (!by) return false;
  const call_facts c{"MPI_Reduce_scatter_block",
                     operation::reduce_scatter_block,
                     static_cast<std::uint64_t>(count * ranks * by->unit),
                     comm,
                     memory_ref::of(send == MPI_IN_PLACE ? receive : send),
                     memory_ref::of(receive)};
  team* t = team_for(c);
  if (!t) return false;
  phases p(c, *t);
  scattering(c, *t, p, count, *by).run();
  *code = p.finish();
  return true;
}

}  // namespace telpher::coll::two_level
