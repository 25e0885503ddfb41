// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/sides.hpp"

#include <algorithm>
#include <utility>

#include "coll/exchange/arguments.hpp"
#include "coll/exchange/call_problem.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {

std::uint64_t block_bytes(const arguments& a, std::uint64_t longest) noexcept {
  return is_made_of_blocks(a.what) && !is_v_form(a.what)
             ? longest / static_cast<std::uint64_t>(a.ranks)
             : longest;
}

void side::pack_as(const datatype::layout& l) noexcept {
  type = datatype::hold(&l);
  for (const part& p : parts) bytes += l.size * static_cast<std::uint64_t>(p.count);
}

block_counts blocks_of(const arguments& a) noexcept {
  const int ranks = is_v_form(a.what) ? 1 : a.ranks;
  return {gives_blocks(a.what) ? ranks : 1, takes_blocks(a.what) ? ranks : 1};
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
  const bool writes = writes_output(a);
  sides s;
  s.in_place = a.in_place && writes;
  if (s.in_place)
    s.input = side_of(a.output, a.received.of, a.received.count * std::max(n.sent, n.received),
                      a.output_places);
  else if (reads_input(a))
    s.input = side_of(a.input, a.sent.of, a.sent.count * n.sent, a.input_places);
  if (writes) {
    const bool shares = a.what == operation::reduce_scatter;
    const std::int64_t count =
        shares ? static_cast<std::int64_t>(a.common[static_cast<std::size_t>(a.rank)])
               : a.received.count * n.received;
    s.output = side_of(a.output, a.received.of, count, a.output_places);
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

/// Looks up where the elements lie, and whether they are to be packed. MPI_BOTTOM and gaps before
/// the first element need that: the buffer's address may lie elsewhere. `where`: the device on
/// which they must lie, if one is known; null where they may lie anywhere.
found_side look_up_side(side& s, const memory::place* where) {
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
  f.good = (!where || (f.place.on_device() && (!where->on_device() || f.place == *where))) &&
           datatype::is_committed(l, s.of, ticket::job().control);
  for (const side::part& p : s.parts)
    if (!s.buffer && datatype::mixes_places(l, s.address(p.at))) f.good = false;
  if (f.good && (s.parts.size() > 1 || !l.one_run(s.parts.front().count))) s.pack_as(l);
  return f;
}

}  // namespace

void arguments::find_gaps() {
  if (!possible || !derived) return;
  auto found = std::make_shared<sides>(sides_of(*this));
  const memory::place* const at = takes_host ? nullptr : &where;
  const found_side in = look_up_side(found->input, at);
  if (in.place.on_device() && !where.on_device()) where = in.place;
  const found_side out = look_up_side(found->output, at);
  if (out.place.on_device() && !where.on_device()) where = out.place;
  possible = in.good && out.good;
  if (!possible) return;
  given_input = input, given_output = output, shifted = true;
  if (in.first) input = in.first, input_memory = in.memory, input_place = in.place;
  if (out.first) output = out.first, output_memory = out.memory, output_place = out.place;
  see_scattered();
  if (found->input.bytes + found->output.bytes > 0) gapped = std::move(found);
}

}  // namespace telpher::coll::exchange
