// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/plans.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/settings.hpp"
#include "coll/algorithms/nodes.hpp"
#include "coll/between/room.hpp"
#include "coll/exchange/selection.hpp"

namespace telpher::coll::between {
namespace {

/// Up to so many nodes leaders exchange their parts directly. With more they form a ring: messages
/// are as long, but a leader has two peers only. Short vectors are not cut.
constexpr int most_at_once = 8;
constexpr std::uint64_t short_vector = 16 * 1024;
/// Of a kernel on two nodes: one message of all of it, in place of two of half of it.
constexpr std::uint64_t short_vector_of_kernel = 128 * 1024;

std::uint64_t most_of_short(const problem& p, plan_form form) {
  return form.kernel && map_of(p).nodes() == 2 ? short_vector_of_kernel : short_vector;
}

/// The first row that holds, of those whose algorithm the operation has.
const algorithm* chosen(const problem& p, std::uint64_t unit, plan_form form) {
  const bool few_nodes = form.rounds || map_of(p).nodes() <= most_at_once;
  const std::pair<bool, std::string_view> rows[] = {
      {!form.rounds, exchange::forced_algorithm(p.what)},
      {!form.rounds && p.count * unit <= most_of_short(p, form), "two_level_doubling"},
      {few_nodes, "two_level_direct"},
      {!few_nodes, "two_level_ring"},
      {true, "two_level"},
      {true, "pairwise"},
  };
  for (const auto& [holds, name] : rows)
    if (const algorithm* a = holds ? find_algorithm(p.what, name) : nullptr)
      if ((a->restrictions & restriction::between_nodes) != 0 && allows(*a, p)) return a;
  return nullptr;
}

/// Elements of a chunk, or of a piece of each block. A chunk has one block for each leader; blocks
/// are smaller if the call had too few chunks to overlap. A kernel copies them much faster than
/// messages travel, so they are larger.
std::uint64_t first_chunk(const problem& p, std::uint64_t unit, std::uint64_t rails,
                          plan_form form) {
  constexpr std::uint64_t worth_a_message = 64 * 1024, chunks_to_overlap = 4;
  if (is_made_of_blocks(p.what)) rails = 1;
  const std::uint64_t whole = is_made_of_blocks(p.what) ? largest_block(p) : p.count / rails;
  const std::uint64_t wanted = std::max(whole * unit / chunks_to_overlap, worth_a_message);
  const std::uint64_t block = form.kernel ? std::min(2 * config().coll_block / unit, whole)
                                          : std::min(config().coll_block, wanted) / unit;
  return aligned(p, std::max<std::uint64_t>(block, 1)) * rails;
}

/// The same pieces, in order, without overlaps.
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

std::optional<plan> choose(problem p, std::uint64_t unit, int rails, int rank, plan_form form) {
  const std::uint64_t leaders = is_made_of_blocks(p.what) ? 1 : static_cast<std::uint64_t>(rails);
  const algorithm* a = chosen(p, unit, form);
  if (!a) return std::nullopt;
  for (p.chunk = first_chunk(p, unit, leaders, form);;) {
    plan made{a, a->make(p, rank), {}, {}, {}};
    if (made.own.scratch * unit <= config().coll_scratch) {
      find_buffers(made);
      if (const node_map& map = map_of(p); form.kernel)
        made.in_kernel = plan_for_kernel(made.own, map.members_of(map.node_of(rank)),
                                         aliased(p, rank), p.granule);
      return made;
    }
    const std::uint64_t half = aligned(p, p.chunk / leaders / 2) * leaders;
    if (half == 0 || half >= p.chunk) return std::nullopt;
    p.chunk = half;
  }
}

const kept_plans::entry* kept_plans::find(std::uint64_t unit, plan_form form) const noexcept {
  const auto is_it = [&](const entry& e) {
    return e.unit == unit && e.form == form && e.of == at_hand;
  };
  const auto found = std::find_if(entries_.begin(), entries_.end(), is_it);
  return found == entries_.end() ? nullptr : &*found;
}

const kept_plans::entry* kept_plans::find_parts(const terms& all, plan_form form) const noexcept {
  for (std::size_t i = 0; i < most_parts; ++i) {
    if (!all.parts[i]) continue;
    const entry& e = *parts_[i];
    if (e.unit == all.grain && e.longest == all.longest && e.form == form) return &e;
  }
  return nullptr;
}

parts_kept kept_plans::own_parts(const exchange::arguments& a) const noexcept {
  parts_kept own{};
  for (std::size_t i = 0; i < most_parts; ++i)
    own[i] = parts_[i] && is_own_part(a, parts_[i]->of, parts_[i]->unit);
  return own;
}

const kept_plans::entry& kept_plans::make(const terms& all, int rails, int rank, plan_form form) {
  const auto made_for = [&](const problem& p) -> std::shared_ptr<const plan> {
    auto found = choose(p, all.grain, rails, rank, form);
    return found ? std::make_shared<const plan>(std::move(*found)) : nullptr;
  };
  entry one{at_hand, all.grain, all.longest, form, made_for(at_hand), nullptr};
  if (may_be_in_place_alone(at_hand.what) && (!is_rooted(at_hand.what) || rank == at_hand.root)) {
    problem there = at_hand;
    there.in_place = true;
    one.in_place = made_for(there);
  }
  if (!same_at_all(at_hand.what)) return parts_[next_part_++ % most_parts].emplace(std::move(one));
  if (entries_.size() < most) return entries_.emplace_back(std::move(one));
  return entries_[next_++ % most] = std::move(one);
}

void kept_plans::forget() noexcept {
  entries_.clear();
  for (auto& p : parts_) p.reset();
  next_ = next_part_ = 0;
}

}  // namespace telpher::coll::between
