// SPDX-License-Identifier: BSD-3-Clause
// The operations' definitions, in elements.
#include "schedules/expected.hpp"

#include <algorithm>

namespace telpher::coll {
namespace {

/// Blocks of the input, by the rank they are for; empty where the rank has no input.
bool sends_blocks(const problem& p, std::int32_t rank) {
  switch (p.what) {
    case operation::scatter:
    case operation::scatterv:
      return rank == p.root;
    case operation::alltoall:
    case operation::alltoallv:
    case operation::reduce_scatter:
    case operation::reduce_scatter_block:
      return true;
    default:
      return false;
  }
}

/// Does the output hold a block of each rank?
bool collects_blocks(const problem& p, std::int32_t rank) {
  switch (p.what) {
    case operation::gather:
    case operation::gatherv:
      return rank == p.root;
    case operation::allgather:
    case operation::allgatherv:
    case operation::alltoall:
    case operation::alltoallv:
      return true;
    default:
      return false;
  }
}

/// The one expectation of an operation whose output is one vector or block; maybe empty.
expectation expected_vector(const problem& p, std::int32_t rank) {
  const std::int32_t last = p.ranks - 1;
  switch (p.what) {
    case operation::allreduce:
      return {0, p.count, 0, 0, last};
    case operation::reduce:
      return {0, rank == p.root ? p.count : 0, 0, 0, last};
    case operation::bcast:
      return {0, rank == p.root ? 0 : p.count, 0, p.root, p.root};
    case operation::scan:
      return {0, p.count, 0, 0, rank};
    case operation::exscan:
      return {0, rank == 0 ? 0 : p.count, 0, 0, rank - 1};
    case operation::reduce_scatter:
    case operation::reduce_scatter_block:
      return {0, block_count(p, rank, rank), input_offset(p, rank, rank), 0, last};
    case operation::scatter:
    case operation::scatterv:
      return {0, p.in_place && rank == p.root ? 0 : block_count(p, p.root, rank),
              input_offset(p, p.root, rank), p.root, p.root};
    default:
      return {};
  }
}

}  // namespace

std::vector<expectation> expected_output(const problem& p, std::int32_t rank) {
  std::vector<expectation> all;
  if (collects_blocks(p, rank)) {
    for (std::int32_t from = 0; from < p.ranks; ++from) {
      // Of a rank with one block only, that is the block it is asked for.
      all.push_back({output_offset(p, rank, from), block_count(p, from, rank),
                     input_offset(p, from, sends_blocks(p, from) ? rank : from), from, from});
    }
  } else {
    all.push_back(expected_vector(p, rank));
  }
  std::erase_if(all, [](const expectation& e) { return e.count == 0; });
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return all;
}

std::uint64_t input_extent(const problem& p, std::int32_t rank) {
  if (sends_blocks(p, rank)) {
    std::uint64_t extent = 0;
    for (std::int32_t to = 0; to < p.ranks; ++to)
      extent = std::max(extent, input_offset(p, rank, to) + block_count(p, rank, to));
    return extent;
  }
  switch (p.what) {
    case operation::bcast:
      return rank == p.root ? p.count : 0;
    case operation::scatter:
    case operation::scatterv:
      return 0;
    case operation::gather:
    case operation::gatherv:
    case operation::allgather:
    case operation::allgatherv:
      return input_offset(p, rank, rank) + block_count(p, rank, rank);
    default:
      return p.count;
  }
}

std::uint64_t output_extent(const problem& p, std::int32_t rank) {
  std::uint64_t extent = 0;
  for (const expectation& e : expected_output(p, rank))
    extent = std::max(extent, e.offset + e.count);
  return extent;
}

}  // namespace telpher::coll
