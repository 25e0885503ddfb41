// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/call_problem.hpp"

#include <algorithm>
#include <numeric>

#include "base/settings.hpp"
#include "base/word_hash.hpp"
#include "coll/exchange/selection.hpp"
#include "path/exported.hpp"

namespace telpher::coll::exchange {
namespace {

struct extents {
  std::uint64_t input = 0, output = 0;
};

std::uint64_t reach(const std::vector<std::uint64_t>& counts,
                    const std::vector<std::uint64_t>& offsets) {
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) most = std::max(most, offsets[i] + counts[i]);
  return most;
}

extents without_in_place(const arguments& a) {
  if (a.what == operation::reduce_scatter)
    return {a.bytes, a.common[static_cast<std::size_t>(a.rank)] * a.grain};
  if (is_v_form(a.what))
    return {reach(a.own_counts, a.own_offsets), reach(a.output_counts, a.output_offsets)};
  const block_counts n = blocks_of(a);
  return {a.bytes * static_cast<std::uint64_t>(n.sent),
          a.bytes * static_cast<std::uint64_t>(n.received)};
}

// With MPI_IN_PLACE one buffer is both: take the larger of the two extents.
extents extents_of(const arguments& a) {
  extents e = without_in_place(a);
  if (a.in_place) e.input = e.output = std::max(e.input, e.output);
  return e;
}

bool describe_one(const arguments& a, const void* address, const device::pointer_info& info,
                  std::uint64_t bytes, bool worth_mapping, path::exported_memory& out,
                  std::uint8_t& has) {
  has = address != nullptr && bytes > 0;
  if (!has) return true;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at < info.base || (!info.is_chunk && bytes > info.bytes - (at - info.base))) return false;
  out = {};
  if (!worth_mapping) return true;
  const path::region where{a.where, static_cast<std::byte*>(const_cast<void*>(address)), bytes};
  return path::export_region(where, info, out) == status::ok;
}

std::uint64_t signature_of(const arguments& a) {
  word_hash all;
  all.add(static_cast<std::uint64_t>(a.what));
  all.add(is_rooted(a.what) ? static_cast<std::uint64_t>(a.root) : a.in_place);
  if (!is_v_form(a.what)) all.add(a.bytes);
  all.add_all(a.common);
  if (a.reduce.known)
    all.add(static_cast<std::uint64_t>(a.reduce.op) << 8 |
            static_cast<std::uint64_t>(a.reduce.type));
  return all.value();
}

std::size_t index(int r) {
  return static_cast<std::size_t>(r);
}

// --- the v forms ---

/// Whether each rank sends what the others expect of it.
bool counts_match(const problem& p, const agreement& protocol) {
  const bool one_block = !gives_blocks(p.what);
  for (int from = 0; from < p.ranks; ++from)
    for (int to = 0; to < p.ranks; ++to) {
      const std::uint64_t sent = protocol.description_of(from).block_bytes[one_block ? 0 : to];
      if (gives(p, from, to) && sent != protocol.description_of(to).room[from]) return false;
    }
  return true;
}

void describe_v_form(const arguments& a, const agreement& protocol, problem& p,
                     std::uint64_t unit) {
  const auto n = index(a.ranks);
  const auto in_units = [&](std::uint64_t bytes) { return bytes / unit; };
  if (a.what == operation::reduce_scatter) {
    p.counts = a.common;
    set_dense_offsets(p);
    return;
  }
  if (a.what == operation::alltoallv) {
    p.counts.resize(n * n);
    p.input_offsets.resize(n * n);
    for (std::size_t r = 0; r < n * n; ++r) {
      const description& d = protocol.description_of(static_cast<int>(r / n));
      p.counts[r] = in_units(d.block_bytes[r % n]);
      p.input_offsets[r] = in_units(d.block_offsets[r % n]);
    }
    p.output_offsets = p.input_offsets;  // in place they are equal; else only the own row is read
  } else if (a.what == operation::scatterv) {
    const description& d = protocol.description_of(a.root);
    for (std::size_t r = 0; r < n; ++r) {
      p.counts.push_back(in_units(d.block_bytes[r]));
      p.input_offsets.push_back(in_units(d.block_offsets[r]));
    }
    return;
  } else {  // allgatherv, gatherv
    p.output_offsets.resize(n * n);
    for (std::size_t r = 0; r < n; ++r) {
      const description& d = protocol.description_of(static_cast<int>(r));
      p.counts.push_back(in_units(d.block_bytes[0]));
      p.output_offsets[r * n + r] = in_units(d.block_offsets[0]);
    }
  }
  for (std::size_t b = 0; b < a.output_offsets.size(); ++b)
    p.output_offsets[index(a.rank) * n + b] = in_units(a.output_offsets[b]);
}

}  // namespace

bool reads_input(const arguments& a) noexcept {
  return !is_from_root(a.what) || a.rank == a.root;
}

bool writes_output(const arguments& a) noexcept {
  if (a.what == operation::bcast) return a.rank != a.root;
  if (a.what == operation::exscan) return a.rank > 0;
  if (is_from_root(a.what)) return !a.in_place;  // where a scatter's own block stays
  return !is_rooted(a.what) || a.rank == a.root;
}

bool has_sound_buffers(const arguments& a) noexcept {
  extents e = extents_of(a);
  if (!reads_input(a)) e.input = 0;
  if (!writes_output(a)) e.output = 0;
  if ((!a.input && e.input > 0) || (!a.output && e.output > 0)) return false;
  const auto in = reinterpret_cast<std::uintptr_t>(a.input);
  const auto out = reinterpret_cast<std::uintptr_t>(a.output);
  const bool apart = in + e.input <= out || out + e.output <= in;
  // A buffer with gaps is packed into separate memory.
  return a.in_place || a.own_block_stays || a.gapped || apart || e.input == 0 || e.output == 0;
}

bool describe_buffers(const arguments& a, handles wanted, description& d) noexcept {
  const extents e = extents_of(a);
  // Handles cost calls of the driver. All ranks judge alike whether they are of use.
  const bool worth_mapping =
      wanted != handles::none &&
      (wanted == handles::all || is_v_form(a.what) || maps_small(a.what) ||
       config().test_coll_buffers == "mapped" ||
       a.bytes * static_cast<std::uint64_t>(a.ranks) >= config().coll_mapped_threshold);
  return describe_one(a, a.input, a.input_memory, e.input, worth_mapping, d.input, d.has_input) &&
         describe_one(a, a.output, a.output_memory, e.output, worth_mapping, d.output,
                      d.has_output);
}

void describe_call(const arguments& a, description& d) noexcept {
  d.signature = signature_of(a);
  d.grain = a.grain;
  d.in_place = a.in_place;
  for (std::size_t i = 0; i < a.own_counts.size(); ++i) {
    d.block_bytes[i] = a.own_counts[i];
    d.block_offsets[i] = a.own_offsets[i];
  }
  for (std::size_t i = 0; i < a.output_counts.size(); ++i) d.room[i] = a.output_counts[i];
  d.places = word_hash().add_all(a.output_offsets).value();
}

void reserve_problem(const arguments& a, problem& p) {
  if (!is_v_form(a.what)) return;
  const auto n = index(a.ranks);
  for (auto* numbers : {&p.counts, &p.input_offsets, &p.output_offsets}) numbers->reserve(n * n);
}

void begin_problem(const arguments& a, std::uint64_t unit, problem& p) noexcept {
  p.what = a.what;
  p.ranks = a.ranks;
  p.root = a.root;
  p.count = a.bytes / unit;
  p.gaps = a.gaps;
  p.in_place = a.in_place;
  p.granule = std::max<std::uint64_t>(1, 128 / unit);  // shares begin where wide accesses may
}

bool describe_problem(const arguments& a, const agreement& protocol, problem& p,
                      std::uint64_t& unit) {
  unit = a.grain;
  for (int r = 0; r < a.ranks; ++r) unit = std::min(unit, protocol.description_of(r).grain);
  begin_problem(a, unit, p);
  p.in_place = protocol.description_of(is_rooted(a.what) ? a.root : 0).in_place != 0;
  if (!is_v_form(a.what)) return true;
  if (a.what != operation::reduce_scatter && !counts_match(p, protocol)) return false;
  describe_v_form(a, protocol, p, unit);
  return true;
}

}  // namespace telpher::coll::exchange
