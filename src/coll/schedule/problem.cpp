// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of a problem lie.
#include "coll/schedule/problem.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace telpher::coll {
namespace {

struct operation_row {
  const char* name;
  bool v_form;
  bool rooted;
  bool reduction;
  bool of_blocks;
};

constexpr std::array operation_rows = {
#define TELPHER_OPERATION(name, ...) operation_row{#name, __VA_ARGS__},
#include "coll/schedule/operations.def"
#undef TELPHER_OPERATION
};

const operation_row& row_of(operation what) noexcept {
  return operation_rows[static_cast<std::size_t>(what)];
}

std::uint64_t offset_in(const std::vector<std::uint64_t>& offsets, const problem& p,
                        std::int32_t rank, std::int32_t block) noexcept {
  const auto ranks = static_cast<std::size_t>(p.ranks);
  const auto row = offsets.size() == ranks ? 0 : static_cast<std::size_t>(rank) * ranks;
  return offsets[row + static_cast<std::size_t>(block)];
}

/// Offsets of blocks that lie one after the other, `stride` apart in `counts`.
void append_dense(std::vector<std::uint64_t>& offsets, const std::uint64_t* counts,
                  std::size_t ranks, std::size_t stride) {
  std::uint64_t begin = 0;
  for (std::size_t block = 0; block < ranks; ++block) {
    offsets.push_back(begin);
    begin += counts[block * stride];
  }
}

}  // namespace

const char* to_string(operation what) noexcept {
  return row_of(what).name;
}

bool from_string(const char* text, operation& what) noexcept {
  for (std::size_t i = 0; i < operation_rows.size(); ++i) {
    if (std::strcmp(operation_rows[i].name, text) != 0) continue;
    what = static_cast<operation>(i);
    return true;
  }
  return false;
}

bool is_v_form(operation what) noexcept {
  return row_of(what).v_form;
}
bool is_rooted(operation what) noexcept {
  return row_of(what).rooted;
}
bool is_reduction(operation what) noexcept {
  return row_of(what).reduction;
}
bool is_made_of_blocks(operation what) noexcept {
  return row_of(what).of_blocks;
}

void set_dense_offsets(problem& p) {
  const auto ranks = static_cast<std::size_t>(p.ranks);
  p.input_offsets.clear();
  p.output_offsets.clear();
  switch (p.what) {
    case operation::scatterv:
    case operation::reduce_scatter:
      append_dense(p.input_offsets, p.counts.data(), ranks, 1);
      break;
    case operation::gatherv:
    case operation::allgatherv:
      append_dense(p.output_offsets, p.counts.data(), ranks, 1);
      break;
    case operation::alltoallv:
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        append_dense(p.input_offsets, &p.counts[rank * ranks], ranks, 1);
        append_dense(p.output_offsets, &p.counts[rank], ranks, ranks);
      }
      break;
    default:
      break;
  }
}

bool aliased(const problem& p, std::int32_t rank) noexcept {
  if (!p.in_place) return false;
  switch (p.what) {
    case operation::bcast:    // one buffer anyway
    case operation::scatter:  // in place, the root's block stays in its input
    case operation::scatterv:
    case operation::barrier:
      return false;
    default:
      return !is_rooted(p.what) || rank == p.root;
  }
}

std::uint64_t block_count(const problem& p, std::int32_t from, std::int32_t to) noexcept {
  if (!is_v_form(p.what)) return p.count;
  switch (p.what) {
    case operation::alltoallv:
      return p.counts[static_cast<std::size_t>(from) * static_cast<std::size_t>(p.ranks) +
                      static_cast<std::size_t>(to)];
    case operation::scatterv:
    case operation::reduce_scatter:
      return p.counts[static_cast<std::size_t>(to)];
    default:
      return p.counts[static_cast<std::size_t>(from)];
  }
}

std::uint64_t output_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept {
  switch (p.what) {
    case operation::allgather:
    case operation::alltoall:
    case operation::gather:
      return p.count * static_cast<std::uint64_t>(block);
    case operation::allgatherv:
    case operation::alltoallv:
    case operation::gatherv:
      return offset_in(p.output_offsets, p, rank, block);
    default:
      return 0;
  }
}

std::uint64_t input_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept {
  switch (p.what) {
    case operation::allgather:
    case operation::allgatherv:
    case operation::gather:
    case operation::gatherv:
      return aliased(p, rank) ? output_offset(p, rank, rank) : 0;
    case operation::alltoall:
    case operation::scatter:
    case operation::reduce_scatter_block:
      return p.count * static_cast<std::uint64_t>(block);
    case operation::alltoallv:
      // In place the blocks lie as they will be received.
      if (p.in_place) return output_offset(p, rank, block);
      [[fallthrough]];
    case operation::scatterv:
    case operation::reduce_scatter:
      return offset_in(p.input_offsets, p, rank, block);
    default:
      return 0;
  }
}

std::uint64_t aligned(const problem& p, std::uint64_t n) noexcept {
  return (n + p.granule - 1) / p.granule * p.granule;
}

std::uint64_t largest_block(const problem& p) noexcept {
  if (!is_v_form(p.what)) return p.count;
  const auto largest = std::max_element(p.counts.begin(), p.counts.end());
  return largest == p.counts.end() ? 0 : *largest;
}

}  // namespace telpher::coll
