// SPDX-License-Identifier: BSD-3-Clause
// The arguments of a collective in the terms of the exchange: addresses, bytes, a reduction that
// the device knows. If the call cannot run among devices (host memory, an operation of the
// program's), `possible` is false, and the rest is not read. Sizes and offsets of a buffer with
// gaps are those of its packed copy (packed_copies.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "coll/exchange/agreement.hpp"
#include "coll/exchange/sides.hpp"
#include "coll/reduction.hpp"
#include "coll/schedule/problem.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/memory.hpp"

namespace telpher::coll::exchange {

/// What the call says of a buffer.
struct elements {
  std::int64_t count = 0;
  MPI_Datatype of = MPI_DATATYPE_NULL;
};

/// What may be possible: types with gaps in device memory, types without them in any memory, or any
/// types in any memory (for calls between nodes).
enum class takes : std::uint8_t { gaps, host_memory, both };

/// Which predefined reductions the device does.
reduction reduction_of(MPI_Op op, MPI_Datatype type) noexcept;

class arguments {
 public:
  arguments(operation op, int size, int own, takes may = takes::gaps) noexcept
      : what(op),
        ranks(size),
        rank(own),
        takes_host(may != takes::gaps),
        takes_gaps(may != takes::host_memory) {}

  // --- called for the wrapper, in this order; those of blocks may throw std::bad_alloc ---

  /// The buffers that count at this rank; null where one does not. MPI_IN_PLACE as `send` makes
  /// `receive` both. False: the call is not for the devices, and the rest need not be read.
  bool buffers(const void* send, void* receive) noexcept;
  void rooted(int root_) noexcept {
    possible = root_ >= 0 && root_ < ranks;
    if (possible) root = root_;
  }
  /// `count` elements make the vector, or the block of each rank.
  void vector(std::int64_t count, MPI_Datatype of) noexcept;
  /// The same if the call has a count and type for each side. Both must mean as many bytes. With
  /// MPI_IN_PLACE the first one does not count, without `both` the second one.
  void vectors(std::int64_t count, MPI_Datatype own_type, std::int64_t other_count,
               MPI_Datatype other_type, bool both) noexcept;
  void reducing(std::int64_t count, MPI_Datatype of, MPI_Op op) noexcept;
  /// Blocks of the own input that others must be told of.
  template <class Count, class Displacement>
  void input_blocks(const Count* counts, const Displacement* displacements, MPI_Datatype of) {
    sent.of = of;
    blocks(counts, displacements, of, own_counts, own_offsets, input_places);
  }
  /// Blocks of the own output.
  template <class Count, class Displacement>
  void output_blocks(const Count* counts, const Displacement* displacements, MPI_Datatype of) {
    received.of = of;
    blocks(counts, displacements, of, output_counts, output_offsets, output_places);
  }
  /// The one block that this rank sends. Output blocks come before: in place it is one of them.
  void own_block(std::int64_t count, MPI_Datatype of);
  /// The one block that this rank expects from the root.
  void expected_block(std::int64_t count, MPI_Datatype of);
  /// Blocks whose counts all ranks know.
  template <class Count>
  void common_counts(const Count* counts) {
    for (int r = 0; r < ranks; ++r) common.push_back(static_cast<std::uint64_t>(counts[r]));
  }

  /// Turns a gather or scatter in place into one that is not: the root's own block becomes a buffer
  /// of its own, which lies already where the result must be.
  void take_own_block_apart() noexcept;

  /// The same call for a later start on the same addresses, where other memory may be by now. It is
  /// not possible if that is not of the same place.
  arguments looked_up_again() const;

  /// When all is read: finds the sides with gaps. May throw std::bad_alloc.
  void find_gaps();

  /// Whether the call reads its arrays of counts at this rank, and those of the sending side.
  bool arrays_count() const noexcept {
    return (what != operation::gatherv && what != operation::scatterv) || is_root();
  }
  bool send_arrays_count() const noexcept { return what != operation::alltoallv || !in_place; }

  // --- the result; sizes in bytes ---

  operation what;
  int ranks;
  int rank;
  int root = 0;
  bool possible = true;
  bool no_memory = false;  // to read the arguments
  bool in_place = false;
  bool own_block_stays = false;  // it was taken apart
  const void* input = nullptr;
  void* output = nullptr;
  bool takes_host, takes_gaps;
  device::pointer_info input_memory, output_memory;
  memory::place input_place, output_place;
  memory::place where;      // the device of the buffers; none if the call moves nothing here
  bool scattered = false;   // some buffer is not in memory of `where`
  std::uint64_t bytes = 0;  // of the vector or one block
  std::uint64_t grain = 16;
  bool gaps = false;  // in the elements that are reduced
  reduction reduce;
  MPI_Datatype type = MPI_DATATYPE_NULL;  // of the values, as read last
  elements sent, received;  // the vector, or the block of a rank; of arrays only the type
  bool derived = false;     // some type is not a run of bytes at the buffer's address
  std::vector<side::part> input_places, output_places;  // of arrays of such a type
  std::shared_ptr<const sides> gapped;                  // null: no side has gaps
  // Where find_gaps() has put the first byte of the data in place of the program's address:
  bool shifted = false;
  const void* given_input = nullptr;
  void* given_output = nullptr;
  std::vector<std::uint64_t> own_counts, own_offsets, output_counts, output_offsets;
  std::vector<std::uint64_t> common;  // elements of `bytes` each
  bool lasting = true;  // no type is the program's, which may free it while a call is deferred

 private:
  void see_scattered() noexcept {
    scattered = (input && !(input_place == where)) || (output && !(output_place == where));
  }
  bool look_up(const void* buffer, device::pointer_info& found, memory::place& place) noexcept;
  /// Null: the call is not possible.
  const datatype::layout* layout_of(MPI_Datatype of) noexcept;
  std::uint64_t size_of(MPI_Datatype of) noexcept {
    const datatype::layout* const l = layout_of(of);
    return l ? l->size : 0;
  }
  void divide_grain(std::uint64_t bytes) noexcept;
  bool is_root() const noexcept { return rank == root; }

  template <class Count, class Displacement>
  void blocks(const Count* counts, const Displacement* displacements, MPI_Datatype of,
              std::vector<std::uint64_t>& to, std::vector<std::uint64_t>& offsets,
              std::vector<side::part>& places) {
    const datatype::layout* const l = layout_of(of);
    std::uint64_t end = 0;  // of the packed bytes
    for (int r = 0; r < ranks && possible; ++r) {
      if (counts[r] < 0 || (displacements[r] < 0 && l->is_plain())) possible = false;
      to.push_back(static_cast<std::uint64_t>(counts[r]) * l->size);
      const std::uint64_t there = static_cast<std::uint64_t>(displacements[r]) * l->size;
      offsets.push_back(to.back() == 0 ? 0 : l->is_plain() ? there : end);
      end += to.back();
      if (!l->is_plain()) places.push_back({displacements[r] * l->extent, counts[r]});
      divide_grain(to.back() | offsets.back());
    }
  }
};

/// Bytes of `count` elements, of any memory; 0 where the host MPI does not know the type.
std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) noexcept;

/// Of calls whose longest vector not all ranks know.
struct unknown_bytes {
  std::uint64_t operator()(int) const noexcept { return 0; }
};

/// A call of a wrapper: the operation, and a function that reads its arguments.
template <class Fill, class Bytes = unknown_bytes>
struct described {
  operation what;
  Fill fill;      // void(arguments&)
  Bytes bytes{};  // uint64(int ranks): of the longest vector, as all ranks know it; 0: they do not

  /// Without memory for it the call is not for the devices.
  arguments read(int ranks, int rank, takes may = takes::gaps) const noexcept {
    arguments a(what, ranks, rank, may);
    try {
      fill(a);
      a.find_gaps();
    } catch (const std::bad_alloc&) {
      a.possible = false;
      a.no_memory = true;
    }
    return a;
  }
};
template <class Fill>
described(operation, Fill) -> described<Fill>;
template <class Fill, class Bytes>
described(operation, Fill, Bytes) -> described<Fill, Bytes>;

}  // namespace telpher::coll::exchange
