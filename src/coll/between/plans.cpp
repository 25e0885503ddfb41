// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/plans.hpp"

#include <algorithm>
#include <string_view>

#include "base/settings.hpp"
#include "coll/algorithms/nodes.hpp"
#include "coll/between/room.hpp"
#include "coll/exchange/selection.hpp"

namespace telpher::coll::between {
namespace {

/// Leaders of few nodes exchange their parts at once; in a larger ring each message still has a
/// part of the share, but a leader has two peers only. Short vectors go whole.
constexpr int most_at_once = 8;
constexpr std::uint64_t short_vector = 16 * 1024;

const algorithm* chosen(const problem& p, std::uint64_t unit, bool rounds) {
  const auto may = [&](const algorithm* a) {
    return a && (a->restrictions & restriction::between_nodes) != 0 && allows(*a, p) ? a : nullptr;
  };
  const auto named = [&](std::string_view name) { return may(find_algorithm(p.what, name)); };
  if (!rounds)
    if (const auto* forced = named(exchange::forced_algorithm(p.what))) return forced;
  if (p.what != operation::allreduce) {
    const auto* levels = named("two_level");
    return levels ? levels : named("pairwise");
  }
  if (!rounds && p.count * unit <= short_vector)
    if (const auto* a = named("two_level_doubling")) return a;
  return named(rounds || map_of(p).nodes() <= most_at_once ? "two_level_direct" : "two_level_ring");
}

bool is_made_of_blocks(operation what) {
  return what != operation::allreduce && what != operation::reduce && what != operation::bcast;
}

/// Elements of a chunk: a block for each leader, smaller ones where a call would be too few chunks
/// to overlap. Where the vector is made of blocks: of a piece of each.
std::uint64_t first_chunk(const problem& p, std::uint64_t unit, std::uint64_t lanes) {
  constexpr std::uint64_t worth_a_message = 64 * 1024, chunks_to_overlap = 4;
  if (is_made_of_blocks(p.what)) lanes = 1;
  const std::uint64_t whole = is_made_of_blocks(p.what) ? largest_block(p) : p.count / lanes;
  const std::uint64_t wanted = std::max(whole * unit / chunks_to_overlap, worth_a_message);
  const std::uint64_t block = std::min(room::block_bytes(), wanted) / unit;
  return aligned(p, std::max<std::uint64_t>(block, 1)) * lanes;
}

/// Where a schedule touches one of its rank's own buffers.
std::vector<piece> merged(std::vector<piece> all) {
  std::sort(all.begin(), all.end(), [](piece a, piece b) { return a.offset < b.offset; });
  std::vector<piece> apart;
  for (const piece& p : all) {
    if (p.count == 0) continue;
    if (apart.empty() || p.offset > apart.back().offset + apart.back().count) {
      apart.push_back(p);
      continue;
    }
    piece& last = apart.back();
    last.count = std::max(last.count, p.offset + p.count - last.offset);
  }
  return apart;
}

void find_buffers(plan& of) {
  std::vector<piece> reads, writes;
  for (const step& s : of.own.steps) {
    for (const span& from : s.sources)
      if (from.where == space::input) reads.push_back({from.offset, from.count});
    if (s.to.where == space::output) writes.push_back({s.to.offset, s.to.count});
  }
  of.reads = merged(std::move(reads));
  of.writes = merged(std::move(writes));
}

}  // namespace

std::optional<plan> choose(problem p, std::uint64_t unit, int lanes, int rank, bool rounds) {
  const std::uint64_t leaders = is_made_of_blocks(p.what) ? 1 : static_cast<std::uint64_t>(lanes);
  const algorithm* a = chosen(p, unit, rounds);
  if (!a) return std::nullopt;
  for (p.chunk = first_chunk(p, unit, leaders);;) {
    plan made{a, a->make(p, rank), {}, {}};
    if (made.own.scratch * unit <= room::scratch_bytes()) {
      find_buffers(made);
      return made;
    }
    const std::uint64_t half = aligned(p, p.chunk / leaders / 2) * leaders;
    if (half == 0 || half >= p.chunk) return std::nullopt;
    p.chunk = half;
  }
}

std::shared_ptr<const plan> kept_plans::find(const problem& p, std::uint64_t unit, int lanes,
                                             int rank, bool rounds) {
  for (const entry& e : entries_)
    if (e.unit == unit && e.rounds == rounds && e.of == p) return e.made;
  auto found = choose(p, unit, lanes, rank, rounds);
  if (!found) return nullptr;
  auto made = std::make_shared<const plan>(std::move(*found));
  if (entries_.size() < most)
    entries_.push_back({p, unit, rounds, made});
  else
    entries_[next_++ % most] = {p, unit, rounds, made};
  return made;
}

}  // namespace telpher::coll::between
