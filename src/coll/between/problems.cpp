// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/problems.hpp"

#include <algorithm>
#include <bit>

#include "coll/between/votes.hpp"
#include "coll/exchange/call_problem.hpp"
#include "coll/exchange/launch.hpp"
#include "path/compression.hpp"

namespace telpher::coll::between {
namespace {

bool reduces_on(const memory::place& where, const reduction& by) {
  return where.owner->prepare(where.device, kernel::exchange_with(by.op, by.type)) == status::ok;
}

/// For codecs, which need values to be aligned.
bool is_aligned(const exchange::arguments& a, std::size_t to) {
  return reinterpret_cast<std::uintptr_t>(a.input) % to == 0 &&
         reinterpret_cast<std::uintptr_t>(a.output) % to == 0;
}

codec::element kind_of(const exchange::arguments& a) {
  if (a.reduce.known && a.reduce.op != kernel::reduce_op::sum) return codec::element::none;
  const codec::element kind = path::element_of(a.type);
  return kind != codec::element::none && is_aligned(a, codec::size_of(kind)) ? kind
                                                                             : codec::element::none;
}

std::uint64_t longest_of(const exchange::arguments& a) {
  std::uint64_t longest = 0;
  for (const auto* counts : {&a.own_counts, &a.output_counts})
    for (const std::uint64_t n : *counts) longest = std::max(longest, n);
  return longest;
}

bool own_block_fits(const exchange::arguments& a) {
  return a.what != operation::allgatherv ||
         a.own_counts[0] == a.output_counts[static_cast<std::size_t>(a.rank)];
}

void put_alltoallv(const exchange::arguments& a, const terms& all, problem& p) {
  const auto n = static_cast<std::size_t>(a.ranks), own = static_cast<std::size_t>(a.rank);
  p.counts.assign(n * n, all.longest / all.grain);  // those between other ranks are never used
  p.input_offsets.assign(n * n, 0);
  p.output_offsets.assign(n * n, 0);
  for (std::size_t r = 0; r < n; ++r) {
    p.counts[own * n + r] = a.own_counts[r] / all.grain;
    p.input_offsets[own * n + r] = a.own_offsets[r] / all.grain;
    p.output_offsets[own * n + r] = a.output_offsets[r] / all.grain;
  }
  for (std::size_t r = 0; r < n; ++r) p.counts[r * n + own] = a.output_counts[r] / all.grain;
}

status take(exchange::packed_copies& c, exchange::arguments& a) noexcept {
  if (a.scattered || !a.where.on_device()) return c.make_on_host(a);
  const auto context = exchange::launch_context::common(a.where);
  TELPHER_TRY(context);
  return c.make(a, context->stream());
}

}  // namespace

copies pack(exchange::arguments& a) noexcept {
  if (!a.possible || !a.gapped) return nullptr;
  copies made;
  status s = status::out_of_memory;
  static_cast<void>(has_memory_for([&] {
    made = std::make_shared<exchange::packed_copies>();
    s = take(*made, a);
  }));
  a.possible = s == status::ok;
  a.gapped.reset();
  return a.possible ? made : nullptr;
}

bool can_take_part(const exchange::arguments& a) noexcept {
  return a.possible && exchange::has_sound_buffers(a) && !a.gaps && own_block_fits(a);
}

terms known_terms(const exchange::arguments& a, std::uint64_t bytes, bool in_kernel) noexcept {
  constexpr std::uint64_t widest = 16;
  terms t;
  t.able = t.any_device = true;
  t.on_device = t.in_kernel = in_kernel;
  t.grain = a.reduce.known
                ? kernel::value_bytes(a.reduce.type)
                : std::uint64_t{1} << std::countr_zero(exchange::block_bytes(a, bytes) | widest);
  return t;
}

terms::words terms::as_words() const noexcept {
  const auto k = static_cast<std::int64_t>(kind);
  words w{able,
          on_device,
          any_device ? -1 : 0,
          static_cast<std::int64_t>(grain),
          -static_cast<std::int64_t>(longest),
          k,
          -k,
          in_kernel};
  std::copy(parts.begin(), parts.end(), w.end() - most_parts);
  return w;
}

terms terms::of(const words& least) noexcept {
  terms t;
  t.able = least[0] == 1;
  t.on_device = least[1] == 1;
  t.any_device = least[2] != 0;
  t.grain = static_cast<std::uint64_t>(least[3]);
  t.longest = static_cast<std::uint64_t>(-least[4]);
  if (least[5] == -least[6]) t.kind = static_cast<codec::element>(least[5]);
  t.in_kernel = least[7] == 1;
  for (std::size_t i = 0; i < most_parts; ++i) t.parts[i] = least[8 + i] == 1;
  return t;
}

bool lies_on(const memory::place& device, const exchange::arguments& a,
             std::uint64_t grain) noexcept {
  if (!a.input && !a.output) return device.on_device();  // it moves nothing
  return a.where.on_device() && !a.scattered && a.grain >= grain &&
         (!device.on_device() || device == a.where) &&
         (!a.reduce.known || reduces_on(a.where, a.reduce));
}

terms terms_of(const exchange::arguments& a, const memory::place& device) noexcept {
  terms t;
  t.able = can_take_part(a);
  t.on_device = lies_on(device, a, a.grain);
  t.any_device = a.where.on_device();
  t.grain = a.grain;
  if (!t.able) return t;
  t.longest = longest_of(a);
  t.kind = kind_of(a);
  return t;
}

bool same_at_all(operation what) noexcept {
  return what != operation::allgatherv && what != operation::alltoallv;
}

bool may_be_in_place_alone(operation what) noexcept {
  return what == operation::reduce || what == operation::reduce_scatter ||
         what == operation::reduce_scatter_block;
}

bool is_own_part(const exchange::arguments& a, const problem& p, std::uint64_t unit) noexcept {
  if (p.what != a.what || p.in_place != a.in_place || !can_take_part(a)) return false;
  const auto n = static_cast<std::size_t>(a.ranks), own = static_cast<std::size_t>(a.rank);
  const bool pairs = a.what == operation::alltoallv;  // a row and a column of the tables
  const auto differ = [&](std::uint64_t units, std::uint64_t bytes) {
    return units * unit != bytes;
  };
  for (std::size_t r = 0; r < n; ++r) {
    if (differ(p.counts[pairs ? r * n + own : r], a.output_counts[r])) return false;
    if (differ(p.output_offsets[pairs ? own * n + r : r], a.output_offsets[r])) return false;
    if (!pairs) continue;
    if (r != own && differ(p.counts[own * n + r], a.own_counts[r])) return false;
    if (differ(p.input_offsets[own * n + r], a.own_offsets[r])) return false;
  }
  return true;
}

void problem_of(const exchange::arguments& a, const shape& among, const terms& all, problem& p) {
  exchange::begin_problem(a, all.grain, p);
  p.mapped = false;
  p.node_of.resize(static_cast<std::size_t>(a.ranks));
  for (std::size_t n = 0; n < among.nodes.size(); ++n)
    for (const int r : among.nodes[n])
      p.node_of[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(n);
  for (auto* blocks : {&p.counts, &p.input_offsets, &p.output_offsets}) blocks->clear();
  const auto put_in_units = [&](const std::vector<std::uint64_t>& bytes,
                                std::vector<std::uint64_t>& units) {
    for (const std::uint64_t b : bytes) units.push_back(b / all.grain);
  };
  if (a.what == operation::allgatherv) {
    put_in_units(a.output_counts, p.counts);
    put_in_units(a.output_offsets, p.output_offsets);
  } else if (a.what == operation::reduce_scatter) {
    p.counts.assign(a.common.begin(), a.common.end());  // in values, as the grain is one
    set_dense_offsets(p);
  } else if (a.what == operation::alltoallv) {
    put_alltoallv(a, all, p);
  }
}

}  // namespace telpher::coll::between
