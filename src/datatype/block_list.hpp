// SPDX-License-Identifier: BSD-3-Clause
// Building the blocks of a layout. Each type constructor is a repetition of a piece at some stride,
// or an array of which a set of indices is kept in each dimension. No MPI here. Blocks stay in
// type-map order, and a block that starts where the last one ends is merged into it.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.hpp"

namespace telpher::datatype {

using block_list = std::vector<layout::block>;

/// More blocks than this are refused (std::bad_alloc): 4 GiB of table is a mistake, not a type.
constexpr std::size_t most_blocks = std::size_t{1} << 28;

/// The blocks of an inner type and the distance between two of its elements.
struct piece {
  block_list blocks;
  std::int64_t extent = 0;
};

/// Adds `count` copies of `inner`, the first at `displacement`, `stride` bytes apart.
void append_repeated(block_list& out, const block_list& inner, std::int64_t displacement,
                     std::int64_t count, std::int64_t stride);

/// Consecutive indices kept in one dimension of an array.
struct index_run {
  std::int64_t first;
  std::int64_t count;
};
struct dimension {
  std::int64_t size;  // of the whole array
  std::vector<index_run> runs;
};

/// The kept elements of an array of `inner`; `dimensions` from the fastest to the slowest.
block_list array_blocks(const piece& inner, const std::vector<dimension>& dimensions);

/// What a process at `coordinate` of `processes` owns of `size` indices dealt in blocks of `block`
/// round robin (MPI's cyclic distribution; its block distribution has at most one round).
std::vector<index_run> dealt_indices(std::int64_t size, std::int64_t block, std::int64_t coordinate,
                                     std::int64_t processes);

/// The blocks as a grid; nothing if they do not form one.
std::optional<grid> grid_of(const block_list& blocks) noexcept;

}  // namespace telpher::datatype
