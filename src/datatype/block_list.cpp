// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/block_list.hpp"

#include <algorithm>
#include <new>

namespace telpher::datatype {
namespace {

void append(block_list& out, std::int64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (!out.empty() && out.back().offset + static_cast<std::int64_t>(out.back().bytes) == offset) {
    out.back().bytes += bytes;
    return;
  }
  if (out.size() == most_blocks) throw std::bad_alloc();
  out.push_back({offset, bytes});
}

}  // namespace

void append_repeated(block_list& out, const block_list& inner, std::int64_t displacement,
                     std::int64_t count, std::int64_t stride) {
  if (count <= 0 || inner.empty()) return;
  const layout::block& first = inner.front();
  if (inner.size() == 1 && static_cast<std::int64_t>(first.bytes) == stride) {
    append(out, displacement + first.offset, first.bytes * static_cast<std::uint64_t>(count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t base = displacement + i * stride;
    for (const layout::block& b : inner) append(out, base + b.offset, b.bytes);
  }
}

block_list array_blocks(const piece& inner, const std::vector<dimension>& dimensions) {
  block_list blocks = inner.blocks;
  std::int64_t pitch = inner.extent;
  for (const dimension& d : dimensions) {
    block_list wider;
    for (const index_run& run : d.runs)
      append_repeated(wider, blocks, run.first * pitch, run.count, pitch);
    blocks = std::move(wider);
    pitch *= d.size;
  }
  return blocks;
}

std::vector<index_run> dealt_indices(std::int64_t size, std::int64_t block, std::int64_t coordinate,
                                     std::int64_t processes) {
  std::vector<index_run> runs;
  for (std::int64_t first = coordinate * block; first < size; first += processes * block)
    runs.push_back({first, std::min(block, size - first)});
  return runs;
}

std::optional<grid> grid_of(const block_list& blocks) noexcept {
  if (blocks.empty() || blocks.size() >= kernel::divisor::limit) return std::nullopt;
  const std::uint64_t n = blocks.size();
  const auto at = [&](std::uint64_t i) { return blocks[i].offset - blocks.front().offset; };
  grid g;
  std::uint64_t covered = 1;  // blocks in the dimensions so far
  for (int d = 0; d < 3 && covered < n; ++d) {
    g.strides[d] = at(covered);
    while (g.counts[d] * covered < n &&
           at(g.counts[d] * covered) == static_cast<std::int64_t>(g.counts[d]) * g.strides[d])
      ++g.counts[d];
    covered *= g.counts[d];
  }
  if (covered != n) return std::nullopt;
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t row = i / g.counts[0];
    const std::uint64_t index[] = {i % g.counts[0], row % g.counts[1], row / g.counts[1]};
    std::int64_t expected = 0;
    for (int d = 0; d < 3; ++d) expected += static_cast<std::int64_t>(index[d]) * g.strides[d];
    if (at(i) != expected || blocks[i].bytes != blocks.front().bytes) return std::nullopt;
  }
  return g;
}

}  // namespace telpher::datatype
