// SPDX-License-Identifier: BSD-3-Clause
// The classes of problems. Vector counts: none, one, fewer than ranks, a multiple of them, and one
// that neither ranks nor granule divide. Blocks of v-forms: equal, growing with holes, mostly
// empty.
#include "schedules/samples.hpp"

#include <algorithm>

namespace telpher::coll {
namespace {

enum class blocks : std::uint8_t { equal, growing, sparse };

std::uint64_t sample_block(blocks kind, std::uint64_t from, std::uint64_t to) {
  switch (kind) {
    case blocks::equal:
      return 3;
    case blocks::growing:
      return (from + 1) * 2 + to % 3;
    case blocks::sparse:
      return (from + to) % 3 == 1 ? 5 : 0;
  }
  return 0;
}

void set_blocks(problem& p, blocks kind) {
  const auto ranks = static_cast<std::uint64_t>(p.ranks);
  const bool pairs = p.what == operation::alltoallv;
  for (std::uint64_t from = 0; from < ranks; ++from)
    for (std::uint64_t to = 0; to < (pairs ? ranks : 1); ++to)
      // In place, what two ranks exchange is of one size.
      p.counts.push_back(pairs && p.in_place
                             ? sample_block(kind, std::min(from, to), std::max(from, to))
                             : sample_block(kind, from, to));
  set_dense_offsets(p);
  if (kind != blocks::growing || p.what == operation::reduce_scatter) return;
  for (auto* offsets : {&p.input_offsets, &p.output_offsets})  // holes between the blocks
    for (std::size_t i = 0; i < offsets->size(); ++i) (*offsets)[i] += i % ranks * 2 + 1;
}

/// The variants that do not depend on counts.
std::vector<problem> variants(operation what, std::int32_t ranks, sample_depth depth) {
  std::vector<problem> all;
  std::vector<std::int32_t> roots = {0};
  if (is_rooted(what) && ranks > 1) roots.push_back(ranks - 1);
  if (is_rooted(what) && ranks > 2 && depth == sample_depth::full) roots.push_back(ranks / 2);
  for (const std::int32_t root : roots)
    for (const bool in_place : {false, true})
      for (const bool mapped : {false, true}) {
        const bool odd = in_place != mapped;
        if (depth == sample_depth::sparse && odd != (root == 0)) continue;
        problem p;
        p.what = what;
        p.ranks = ranks;
        p.root = root;
        p.in_place = in_place;
        p.mapped = mapped;
        p.commutative = false;
        all.push_back(p);
      }
  return all;
}

void add_counts(std::vector<problem>& all, problem p, sample_depth depth) {
  const auto ranks = static_cast<std::uint64_t>(p.ranks);
  std::vector<std::uint64_t> counts = {4 * ranks + 3};
  if (depth == sample_depth::full) counts = {0, 1, ranks - 1, 4 * ranks, 9 * ranks + 5};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  for (const std::uint64_t count : counts) {
    p.count = count;
    p.granule = count % 2 == 0 ? 1 : 4;
    p.chunk = 2 * ranks;
    all.push_back(p);
  }
}

}  // namespace

std::vector<problem> sample_problems(operation what, std::int32_t ranks, sample_depth depth,
                                     const std::vector<std::int32_t>& node_of) {
  std::vector<problem> all;
  for (problem& p : variants(what, ranks, depth)) {
    p.node_of = node_of;
    if (!is_v_form(what)) {
      add_counts(all, p, depth);
      continue;
    }
    for (const blocks kind : {blocks::equal, blocks::growing, blocks::sparse}) {
      if (depth == sample_depth::sparse && kind == blocks::equal) continue;
      problem with = p;
      with.chunk = 7;
      set_blocks(with, kind);
      all.push_back(with);
    }
  }
  return all;
}

std::vector<std::vector<std::int32_t>> sample_nodes(std::int32_t ranks) {
  std::vector<std::vector<std::int32_t>> all = {{}};
  const auto add = [&](auto node_of_rank) {
    std::vector<std::int32_t> nodes;
    for (std::int32_t r = 0; r < ranks; ++r) nodes.push_back(node_of_rank(r));
    if (std::find(all.begin(), all.end(), nodes) == all.end()) all.push_back(nodes);
  };
  add([](std::int32_t r) { return r / 2; });
  add([](std::int32_t r) { return r / 4; });
  add([&](std::int32_t r) { return r < (ranks + 1) / 2 ? 0 : 1; });
  add([&](std::int32_t r) { return r == ranks - 1 ? 1 : 0; });    // one rank alone
  add([](std::int32_t r) { return r < 1 ? 0 : r < 4 ? 1 : 2; });  // 1, 3 and the rest
  add([](std::int32_t r) { return r % 3; });                      // dealt round robin
  add([](std::int32_t r) { return r; });                          // all alone
  return all;
}

}  // namespace telpher::coll
