// SPDX-License-Identifier: BSD-3-Clause
// Where the blocks of a problem lie.
#include "coll/schedule/problem.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace telpher::coll {
namespace {

enum class root : std::uint8_t { none, from, to };
enum class parts : std::uint8_t { one, each };

struct operation_row {
  const char* name;
  bool v_form;
  root data_goes;
  bool reduction;
  parts input, output;
};

constexpr std::array operation_rows = {
#define TELPHER_OPERATION(name, v_form, data_goes, reduction, input, output) \
  operation_row{#name, v_form, root::data_goes, reduction, parts::input, parts::output},
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
  return row_of(what).data_goes != root::none;
}
bool is_from_root(operation what) noexcept {
  return row_of(what).data_goes == root::from;
}
bool is_reduction(operation what) noexcept {
  return row_of(what).reduction;
}
bool gives_blocks(operation what) noexcept {
  return row_of(what).input == parts::each;
}
bool takes_blocks(operation what) noexcept {
  return row_of(what).output == parts::each;
}

void set_dense_offsets(problem& p) {
  const auto ranks = static_cast<std::size_t>(p.ranks);
  p.input_offsets.clear();
  p.output_offsets.clear();
  if (!is_v_form(p.what)) return;
  if (!gives_blocks(p.what)) return append_dense(p.output_offsets, p.counts.data(), ranks, 1);
  if (!takes_blocks(p.what)) return append_dense(p.input_offsets, p.counts.data(), ranks, 1);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    append_dense(p.input_offsets, &p.counts[rank * ranks], ranks, 1);
    append_dense(p.output_offsets, &p.counts[rank], ranks, ranks);
  }
}

// A bcast has one buffer at each rank anyway. A scatter in place leaves the root's block in its
// input.
bool aliased(const problem& p, std::int32_t rank) noexcept {
  if (!p.in_place || is_from_root(p.what)) return false;
  return !is_rooted(p.what) || rank == p.root;
}

bool gives(const problem& p, std::int32_t from, std::int32_t to) noexcept {
  if (p.what == operation::scan) return from <= to;
  if (p.what == operation::exscan) return from < to;
  if (!is_rooted(p.what)) return true;
  if ((is_from_root(p.what) ? from : to) != p.root) return false;
  const bool stays = p.what == operation::bcast || (p.in_place && !is_reduction(p.what));
  return from != to || !stays;
}

std::uint64_t block_count(const problem& p, std::int32_t from, std::int32_t to) noexcept {
  if (!is_v_form(p.what)) return largest_block(p);
  const auto f = static_cast<std::size_t>(from), t = static_cast<std::size_t>(to);
  if (!gives_blocks(p.what)) return p.counts[f];
  return p.counts[takes_blocks(p.what) ? f * static_cast<std::size_t>(p.ranks) + t : t];
}

std::uint64_t output_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept {
  if (!takes_blocks(p.what)) return 0;
  return is_v_form(p.what) ? offset_in(p.output_offsets, p, rank, block)
                           : p.count * static_cast<std::uint64_t>(block);
}

// In place the blocks of an alltoall lie as they will be received.
std::uint64_t input_offset(const problem& p, std::int32_t rank, std::int32_t block) noexcept {
  if (!gives_blocks(p.what)) return aliased(p, rank) ? output_offset(p, rank, rank) : 0;
  if (p.in_place && takes_blocks(p.what)) return output_offset(p, rank, block);
  return is_v_form(p.what) ? offset_in(p.input_offsets, p, rank, block)
                           : p.count * static_cast<std::uint64_t>(block);
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
