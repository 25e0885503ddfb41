// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of one node do together in a call of two levels, and what leaders do with other
// nodes. Ranks of a node go among their devices where the exchange agrees to (coll/exchange); if
// one of them has other memory, those of this node go through host images and the host MPI for the
// step at hand, and other nodes notice nothing. So every rank takes every step, in the same order,
// whatever fails: an error is kept, and all ranks hear of it in `finish`.
//
// Between the levels a block lies in the team's host memory, whichever way the node took.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "coll/two_level/coding.hpp"
#include "coll/two_level/paths.hpp"

namespace telpher::coll::two_level {

/// A run of elements or bytes in shares, one for each rank of the node, or of all nodes.
struct shares {
  std::vector<std::int64_t> counts, offsets;

  std::int64_t total() const noexcept;
  /// `count` elements in even shares for the first `lanes` of `ranks`; they begin at multiples of
  /// `granule`.
  static shares even(std::int64_t count, int lanes, int ranks, std::int64_t granule);
  shares times(std::int64_t unit) const;
  /// The same shares, one behind the other.
  shares dense() const;
  std::int64_t count(int r) const noexcept { return counts[static_cast<std::size_t>(r)]; }
  std::int64_t offset(int r) const noexcept { return offsets[static_cast<std::size_t>(r)]; }
};

/// A predefined reduction, and the bytes of a value.
struct reducing {
  MPI_Datatype type;
  MPI_Op op;
  std::int64_t unit;
};
/// None, at all ranks alike, where devices do not reduce so, and for pairs with padding: the blocks
/// between the levels would carry stale bytes into the gaps of the program's buffer.
std::optional<reducing> reducing_of(MPI_Op op, MPI_Datatype type) noexcept;

class phases {
 public:
  phases(const call_facts& call, team& t) noexcept : call_(call), team_(t) {
    requests_.fill(MPI_REQUEST_NULL);
  }

  // --- in the node; shares of bytes unless it reduces ---

  /// Reduces `input` of all ranks of the node; the own share lies at `to` then, which is
  /// send_block(slot) or in device_block(slot).
  void reduce_scatter(memory_ref input, const shares& elements, const reducing& by, memory_ref to,
                      int slot);
  /// Brings `own`, in host memory or device_block, of each rank to its share of `output` at all;
  /// decompressed first, if there is a plan.
  void allgather(memory_ref output, const shares& bytes, memory_ref own,
                 const codec::plan& coded = {});
  /// Brings receive_block(slot) of each rank to its share of `output` at the rank of index `root`.
  void gather(memory_ref output, const shares& bytes, int root, int slot);
  void bcast(memory_ref buffer, std::int64_t bytes, int root);
  /// Share r of `input` goes to rank r of the node; what comes from rank r is the share r of
  /// `dense` in send_block(slot), or all of that is compressed there.
  void alltoall(memory_ref input, const shares& bytes, const shares& dense, int slot,
                const codec::plan& coded = {});

  // --- this rank alone ---

  /// Into send_block(slot), or out of receive_block(slot).
  void load(memory_ref from, std::int64_t bytes, int slot) {
    keep(move(team_.send_block(slot), from, bytes));
  }
  void store(memory_ref to, std::int64_t bytes, int slot) {
    store_from(team_.receive_block(slot), to, bytes);
  }
  void store_from(memory_ref from, memory_ref to, std::int64_t bytes) {
    keep(move(to, from, bytes));
  }
  /// Dense shares in host memory, each to its place.
  void spread(memory_ref output, const shares& bytes, memory_ref dense) {
    keep(move_shares(output, bytes, dense));
  }
  /// What load and spread do with a plan: `from` and `output` are device memory.
  void load_coded(memory_ref from, int slot, const codec::plan& coded) {
    keep(encode(team_.send_block(slot), from, coded));
  }
  void spread_coded(memory_ref output, const shares& bytes, int slot, const codec::plan& coded) {
    keep(decode(team_.device_block(slot), team_.receive_block(slot), coded));
    keep(move_shares(output, bytes, team_.device_block(slot)));
  }

  // --- between nodes ---

  /// A request of a slot, for a non-blocking call of the host MPI among leaders.
  MPI_Request* request(int slot, int which = 0) noexcept {
    return &requests_[static_cast<std::size_t>(2 * slot + which)];
  }
  /// Keeps what a call of the host MPI returned.
  void started(int code) noexcept;
  /// Starts to send a block to a node.
  void send_to(int node, memory_ref block, std::int64_t bytes, int slot) noexcept;
  /// Starts to receive one into receive_block(slot).
  void receive_from(int node, std::int64_t bytes, int slot) noexcept;
  /// Until the slot's requests are complete.
  void wait(int slot) noexcept;

  /// For sums of compressed values: the exponents of the bounds of an error that this rank has made
  /// in what it sent to be summed up, and in the sums.
  void keep_errors(std::optional<int> in_parts, std::optional<int> in_sums) noexcept;

  /// All ranks hear whether some rank has failed, and how wrong sums of compressed values may be.
  /// The code for the program.
  int finish() noexcept;
  /// The first failure counts.
  void keep(status s) noexcept {
    if (!failed(status_)) status_ = s;
  }

 private:
  status move_shares(memory_ref output, const shares& bytes, memory_ref dense) noexcept;
  void wait_for_request(MPI_Request* r) noexcept;
  status move(memory_ref to, memory_ref from, std::int64_t bytes) noexcept;
  bool alone() const noexcept { return team_.among.locals() == 1; }
  int me() const noexcept { return team_.among.index; }

  template <class Fill>
  bool among_devices(operation what, bool possible, Fill&& fill);
  template <class Call>
  void by_host_mpi(Call&& call) noexcept;

  const call_facts& call_;
  team& team_;
  std::array<MPI_Request, 2 * team::slots> requests_;
  status status_ = status::ok;
  static constexpr int no_error = -(1 << 20);
  int in_parts_ = no_error, in_sums_ = no_error;
};

/// Runs `begin(k)` for each of `count` chunks and `end(k)` a few chunks behind it, so that what
/// `begin` has started between nodes goes on while the node works on the next chunks. `middle(k)`
/// comes half way between them.
template <class Begin, class Middle, class End>
void overlapped(std::int64_t count, Begin&& begin, Middle&& middle, End&& end) {
  const auto run = [&](auto& step, std::int64_t k) {
    if (k >= 0 && k < count) step(k, static_cast<int>(k % team::slots));
  };
  for (std::int64_t k = 0; k < count + team::lag; ++k) {
    run(begin, k);
    run(middle, k - team::lag / 2);
    run(end, k - team::lag);
  }
}
template <class Begin, class End>
void overlapped(std::int64_t count, Begin&& begin, End&& end) {
  overlapped(
      count, begin, [](std::int64_t, int) {}, end);
}

/// Bytes of one of `parts` equal parts of a block. Blocks are smaller than TELPHER_COLL_BLOCK where
/// a call of `bytes` would be too few of them to overlap.
std::int64_t piece_bytes(const team& t, std::uint64_t bytes, int parts) noexcept;
/// Elements of a chunk: as many blocks as there are leaders in a node, each of a multiple of
/// `granule` elements.
std::int64_t chunk_elements(const team& t, std::uint64_t bytes, std::int64_t unit,
                            std::int64_t granule) noexcept;

/// Bytes of the largest value that reductions know: enough to see cheaply that a call is small.
constexpr std::uint64_t largest_value = 16;

/// Shares begin where devices reach memory in wide words.
constexpr std::int64_t granule(std::int64_t unit) noexcept {
  return std::max<std::int64_t>(1, 128 / unit);
}

}  // namespace telpher::coll::two_level
