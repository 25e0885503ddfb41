// SPDX-License-Identifier: BSD-3-Clause
// One collective call as an algorithm sees it: the same for all ranks, so that every rank can work
// out what every other does. Counts and offsets are elements, whatever an element is.
//
// What the spaces hold, by operation (n = count, P = ranks):
//   allreduce, scan, exscan        input n            output n
//   reduce                         input n            output n at the root
//   bcast                          input n at the root, output n elsewhere
//   allgather(v)                   input own block    output all blocks
//   gather(v)                      input own block    output all blocks at the root
//   scatter(v)                     input all blocks at the root, output own block
//   alltoall(v)                    input a block for each rank, output a block of each rank
//   reduce_scatter(_block)         input all blocks   output own block
#pragma once

#include <cstdint>
#include <vector>

#include "coll/schedule/schedule.hpp"

namespace telpher::coll {

enum class operation : std::uint8_t {
#define TELPHER_OPERATION(name, ...) name,
#include "coll/schedule/operations.def"
#undef TELPHER_OPERATION
};
constexpr std::size_t operation_count = 0
#define TELPHER_OPERATION(name, ...) +1
#include "coll/schedule/operations.def"
#undef TELPHER_OPERATION
    ;

const char* to_string(operation what) noexcept;
/// True if `text` names an operation.
bool from_string(const char* text, operation& what) noexcept;

/// The operation gives its blocks counts of their own.
bool is_v_form(operation what) noexcept;
bool is_rooted(operation what) noexcept;
/// Rooted: the root alone gives.
bool is_from_root(operation what) noexcept;
bool is_reduction(operation what) noexcept;
/// A rank's input has a block for each rank. Else all get the same of it.
bool gives_blocks(operation what) noexcept;
/// A rank's output has a block of each rank.
bool takes_blocks(operation what) noexcept;
inline bool is_made_of_blocks(operation what) noexcept {
  return gives_blocks(what) || takes_blocks(what);
}

struct problem {
  operation what = operation::allreduce;
  std::int32_t ranks = 1;
  std::int32_t root = 0;
  std::uint64_t count = 0;  // of the vector, or of one block; v-forms: unused

  // v-forms only. counts: one a rank; alltoallv: [from * ranks + to]. Offsets: one a block, or
  // [rank * ranks + block] if ranks differ; rows that nobody asks for may hold anything.
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> input_offsets;   // scatterv, reduce_scatter, alltoallv
  std::vector<std::uint64_t> output_offsets;  // gatherv, allgatherv, alltoallv

  bool in_place = false;              // at the root, if there is one; else at every rank
  bool commutative = true;            // the reduction operation
  bool gaps = false;                  // in elements; in the output they stay as they are
  bool mapped = true;                 // peers in the node reach input and output, not scratch alone
  std::uint64_t granule = 1;          // shares of a vector begin at multiples of this
  std::uint64_t chunk = 0;            // pipelines between nodes: elements of a chunk; 0: one chunk
  std::vector<std::int32_t> node_of;  // of each rank; empty: one node

  bool operator==(const problem&) const = default;
};

/// Fills the offsets of a v-form with blocks one after the other.
void set_dense_offsets(problem& p);

/// Does this rank's input lie in its output (MPI_IN_PLACE)?
bool aliased(const problem& p, std::int32_t rank) noexcept;

/// Whether the result of `to` needs something of `from`'s input. What a rank needs of its own
/// counts too, unless a root has it in its place already.
bool gives(const problem& p, std::int32_t from, std::int32_t to) noexcept;

/// Elements of what `from` contributes for `to`.
std::uint64_t block_count(const problem& p, std::int32_t from, std::int32_t to) noexcept;
/// Where block `block` begins in the rank's input or output.
std::uint64_t input_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept;
std::uint64_t output_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept;
/// `n`, rounded up to a multiple of the granule.
std::uint64_t aligned(const problem& p, std::uint64_t n) noexcept;
/// The largest block of all.
std::uint64_t largest_block(const problem& p) noexcept;

}  // namespace telpher::coll
