// SPDX-License-Identifier: BSD-3-Clause
// MPI_Reduce_scatter and MPI_Reduce_scatter_block in two levels, for nodes with equal numbers of
// consecutive ranks. The blocks of one node after the other are reduced in each node, and then by
// the leaders to the node that they belong to. In compressed form, leaders exchange a chunk of the
// blocks of all nodes at once.
//
// In place the result goes to the front of the input: what lies there was read in an earlier chunk,
// or in the same one (nodes are taken in the order of their ranks; of all nodes at once, a chunk
// begins equally far behind the first block of each).
#include <numeric>

#include "coll/two_level/calls.hpp"
#include "coll/two_level/coded_sum.hpp"

namespace telpher::coll::two_level {
namespace {

class scattering {
 public:
  scattering(const call_facts& c, const team& t, phases& p, std::vector<std::int64_t> counts,
             const reducing& by, const coding& how)
      : c_(c), t_(t), p_(p), by_(by), counts_(std::move(counts)), locals_(t.among.locals()) {
    nodes_ = static_cast<int>(t.among.nodes.size());
    starts_.resize(counts_.size() + 1);
    std::inclusive_scan(counts_.begin(), counts_.end(), starts_.begin() + 1);
    for (int n = 0; n < nodes_; ++n) longest_ = std::max(longest_, length(n));
    const std::int64_t largest = *std::max_element(counts_.begin(), counts_.end());
    const std::int64_t values = piece_bytes(t, c.bytes, 1) / by.unit;
    const std::int64_t each = values / coded_sum::granule(t) * coded_sum::granule(t) / nodes_;
    coded_.emplace(t, p, how, by, how ? std::min(each, largest) * nodes_ : 0);
    chunk_ = *coded_ ? each : values;
    if (largest <= chunk_) chunk_ = longest_;
  }

  void run() {
    const std::int64_t chunks = (longest_ + chunk_ - 1) / chunk_;
    if (*coded_)
      return overlapped(
          chunks, [&](std::int64_t k, int slot) { scatter_coded(k, slot); },
          [&](std::int64_t k, int slot) { place_coded(k, slot); });
    overlapped(
        nodes_ * chunks,
        [&](std::int64_t k, int slot) { reduce(static_cast<int>(k / chunks), k % chunks, slot); },
        [&](std::int64_t k, int slot) { place(static_cast<int>(k / chunks), k % chunks, slot); });
  }

 private:
  std::int64_t start(int rank) const { return starts_[static_cast<std::size_t>(rank)]; }
  std::int64_t start_of(int node) const { return start(node * locals_); }
  std::int64_t length(int node) const { return start_of(node + 1) - start_of(node); }

  /// What of a chunk of a node's blocks belongs to each of its ranks.
  shares cut(int node, std::int64_t k) const {
    const std::int64_t from = start_of(node) + std::min(k * chunk_, length(node));
    const std::int64_t to = start_of(node) + std::min((k + 1) * chunk_, length(node));
    shares s;
    for (int r = node * locals_; r < (node + 1) * locals_; ++r) {
      const std::int64_t low = std::clamp(start(r), from, to);
      s.offsets.push_back(low - from);
      s.counts.push_back(std::clamp(start(r + 1), from, to) - low);
    }
    return s;
  }
  std::int64_t own(int node, std::int64_t k) const { return cut(node, k).count(t_.among.index); }
  memory_ref input(int node, std::int64_t k) const {
    return c_.input + static_cast<std::uint64_t>((start_of(node) + k * chunk_) * by_.unit);
  }
  /// Where this rank's values of a chunk belong in its result.
  memory_ref output(std::int64_t k) const {
    const int node = t_.among.node, index = t_.among.index;
    const std::int64_t at = start_of(node) + k * chunk_ + cut(node, k).offset(index);
    return c_.output + static_cast<std::uint64_t>((at - start(node * locals_ + index)) * by_.unit);
  }

  void reduce(int node, std::int64_t k, int slot) {
    const shares s = cut(node, k);
    if (s.total() == 0) return;
    p_.reduce_scatter(input(node, k), s, by_, t_.send_block(slot), slot);
    if (const std::int64_t values = s.count(t_.among.index); values > 0)
      p_.started(pmpi::Ireduce(t_.send_block(slot).at, t_.receive_block(slot).at,
                               static_cast<int>(values), by_.type, by_.op, node, t_.leaders,
                               p_.request(slot)));
  }

  void place(int node, std::int64_t k, int slot) {
    p_.wait(slot);
    if (node == t_.among.node && own(node, k) > 0)
      p_.store(output(k), own(node, k) * by_.unit, slot);
  }

  // --- compressed ---

  /// Values of each node's part of what the leaders of this index exchange in a chunk.
  std::int64_t part(std::int64_t k) const {
    std::int64_t most = 0;
    for (int n = 0; n < nodes_; ++n) most = std::max(most, own(n, k));
    return coded_->part(most * nodes_);
  }

  void scatter_coded(std::int64_t k, int slot) {
    const std::int64_t room = part(k);
    for (int n = 0; n < nodes_; ++n) {
      const shares s = cut(n, k);
      const memory_ref at = coded_->place(n, room, slot);
      if (s.total() > 0) p_.reduce_scatter(input(n, k), s, by_, at, slot);
      coded_->fill_up(at, s.count(t_.among.index), room);
    }
    if (room > 0) coded_->scatter(room, slot);
  }

  void place_coded(std::int64_t k, int slot) {
    const std::int64_t room = part(k), values = own(t_.among.node, k);
    if (room == 0) return;
    p_.wait(slot);
    if (values == 0) return;
    coded_->reduce(room, slot);
    p_.store_from(coded_->place(t_.among.node, room, slot), output(k), values * by_.unit);
  }

  const call_facts& c_;
  const team& t_;
  phases& p_;
  const reducing& by_;
  std::vector<std::int64_t> counts_, starts_;
  int locals_, nodes_ = 0;
  std::int64_t longest_ = 0, chunk_ = 0;
  std::optional<coded_sum> coded_;
};

/// `c` lacks its bytes.
bool run(call_facts c, std::vector<std::int64_t> counts, MPI_Datatype type, MPI_Op op,
         int* code) noexcept {
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const bool sound = *std::min_element(counts.begin(), counts.end()) >= 0 && all > 0;
  if (!sound || !worthwhile(c.what, static_cast<std::uint64_t>(all) * largest_value)) return false;
  const auto by = reducing_of(op, type);
  if (!by) return false;
  c.bytes = static_cast<std::uint64_t>(all * by->unit);
  team* t = team_for(c);
  if (!t) return false;
  phases p(c, *t);
  const coding how = op == MPI_SUM ? coding::agreed(c, *t, type) : coding{};
  scattering(c, *t, p, std::move(counts), *by, how).run();
  *code = p.finish();
  return true;
}

}  // namespace

bool reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, int* code) noexcept {
  int ranks = 0;
  if (count <= 0 || !spans_nodes(comm) || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS)
    return false;
  return run({"MPI_Reduce_scatter_block", operation::reduce_scatter_block, 0, comm,
              memory_ref::of(send == MPI_IN_PLACE ? receive : send), memory_ref::of(receive)},
             std::vector<std::int64_t>(static_cast<std::size_t>(ranks), count), type, op, code);
}

bool reduce_scatter(const void* send, void* receive, numbers counts, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, int* code) noexcept {
  int ranks = 0, own_rank = 0;
  if (!spans_nodes(comm) || pmpi::Comm_size(comm, &ranks) != MPI_SUCCESS) return false;
  pmpi::Comm_rank(comm, &own_rank);
  const bool gets = counts[own_rank] > 0;
  return run({"MPI_Reduce_scatter", operation::reduce_scatter, 0, comm,
              memory_ref::of(send == MPI_IN_PLACE ? receive : send),
              gets ? memory_ref::of(receive) : memory_ref{}},
             counts.first(ranks), type, op, code);
}

}  // namespace telpher::coll::two_level
