// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/sides.hpp"

#include <algorithm>
#include <utility>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/call_problem.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {

block_counts blocks_of(const arguments& a) noexcept {
  const auto all = static_cast<std::uint64_t>(a.ranks);
  switch (a.what) {
    case operation::alltoall:
      return {all, all};
    case operation::allgather:
    case operation::gather:
      return {1, all};
    case operation::scatter:
    case operation::reduce_scatter_block:
      return {all, 1};
    default:
      return {1, 1};
  }
}

namespace {

/// Elements of arrays of counts, whose places are known, or else `count` elements.
side side_of(const void* buffer, MPI_Datatype of, std::int64_t count,
             const std::vector<side::part>& places) {
  side s;
  s.buffer = static_cast<std::byte*>(const_cast<void*>(buffer));
  s.of = of;
  s.parts = places.empty() ? std::vector<side::part>{{0, count}} : places;
  return s;
}

}  // namespace

sides sides_of(const arguments& a) {
  const block_counts n = blocks_of(a);
  const bool writes = writes_output(a), both = a.in_place && writes;
  const auto times = [](const elements& e, std::uint64_t blocks) {
    return e.count * static_cast<std::int64_t>(blocks);
  };
  sides s;
  if (!both && reads_input(a)) {
    s.input = side_of(a.input, a.sent.of, times(a.sent, n.sent), a.input_places);
    s.input.reads = true;
  }
  if (writes) {
    std::int64_t count = times(a.received, both ? std::max(n.sent, n.received) : n.received);
    if (!both && a.what == operation::reduce_scatter)
      count = static_cast<std::int64_t>(a.common[static_cast<std::size_t>(a.rank)]);
    s.output = side_of(a.output, a.received.of, count, a.output_places);
    s.output.reads = both;
    s.output.writes = true;
  }
  return s;
}

// --- gaps ---

namespace {

/// Joins parts that follow each other, so that one kernel packs both, and drops empty ones.
void join(std::vector<side::part>& parts, std::int64_t extent) {
  std::vector<side::part> joined;
  for (const side::part& p : parts) {
    if (p.count == 0) continue;
    if (!joined.empty() && joined.back().at + joined.back().count * extent == p.at)
      joined.back().count += p.count;
    else
      joined.push_back(p);
  }
  parts = std::move(joined);
}

struct found_side {
  bool good = true;            // it can be packed, or need not be
  std::byte* first = nullptr;  // of its bytes, where they are not at the buffer's address
  device::pointer_info memory{};
  memory::place place{};
};

/// Looks up where the elements lie. MPI_BOTTOM and gaps before the first element need that: the
/// buffer's address may lie elsewhere.
found_side look_up_side(side&& s, const memory::place& where, gapped_side& gapped) {
  found_side f;
  if (s.parts.empty()) return f;
  const auto type = datatype::layout_of(s.of);
  if (!type) return f.good = false, f;
  const datatype::layout& l = **type;
  if (l.is_plain()) return f;
  join(s.parts, l.extent);
  if (s.parts.empty() || l.size == 0) return f;
  f.first = s.address(s.parts.front().at + l.blocks.front().offset);
  f.place = memory::classify(f.first, f.memory);
  f.good = f.place.on_device() && (!where.on_device() || f.place == where) &&
           datatype::is_committed(l, s.of, ticket::job().control);
  for (const side::part& p : s.parts)
    if (!s.buffer && datatype::mixes_places(l, s.address(p.at))) f.good = false;
  if (!f.good || (s.parts.size() == 1 && l.one_run(s.parts.front().count))) return f;
  static_cast<side&>(gapped) = std::move(s);
  gapped.type = datatype::hold(&l);
  for (const side::part& p : gapped.parts)
    gapped.bytes += l.size * static_cast<std::uint64_t>(p.count);
  return f;
}

}  // namespace

void arguments::find_gaps() {
  if (!possible || !derived) return;
  sides s = sides_of(*this);
  auto found = std::make_shared<gapped_sides>();
  const bool both = s.output.reads;
  const found_side in = look_up_side(std::move(s.input), where, found->input);
  if (in.place.on_device()) where = in.place;
  const found_side out = look_up_side(std::move(s.output), where, found->output);
  if (out.place.on_device()) where = out.place;
  possible = in.good && out.good;
  if (!possible) return;
  if (in.first) input = in.first, input_memory = in.memory, input_place = in.place;
  if (out.first) output = out.first, output_memory = out.memory, output_place = out.place;
  if (out.first && both) input = out.first, input_memory = out.memory, input_place = out.place;
  if (found->input.bytes + found->output.bytes > 0) gapped = std::move(found);
}

}  // namespace telpher::coll::exchange
