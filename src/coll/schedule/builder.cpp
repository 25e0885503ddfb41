// SPDX-License-Identifier: BSD-3-Clause
#include "coll/schedule/builder.hpp"

#include <algorithm>
#include <utility>

namespace telpher::coll {

piece share_of(piece whole, std::int32_t index, std::int32_t parts, std::uint64_t granule) {
  const auto n = static_cast<std::uint64_t>(parts);
  const auto i = static_cast<std::uint64_t>(index);
  const std::uint64_t units = (whole.count + granule - 1) / granule;
  const std::uint64_t first = units / n * i + std::min(i, units % n);
  const std::uint64_t last = first + units / n + (i < units % n ? 1 : 0);
  const std::uint64_t begin = std::min(first * granule, whole.count);
  const std::uint64_t end = std::min(last * granule, whole.count);
  return {whole.offset + begin, end - begin};
}

builder::builder(const problem& p, std::int32_t rank, std::uint64_t scratch, bool exposed)
    : problem_(p), exposed_(exposed) {
  made_.rank = rank;
  made_.ranks = p.ranks;
  made_.scratch = scratch;
}

span builder::contribution(std::int32_t r, piece at, piece slot) const {
  if (exposed_ || r == rank()) return {r, space::input, at.offset, at.count};
  return scratch_of(r, slot);
}

std::vector<span> builder::contributions(piece at) const {
  std::vector<span> all;
  for (std::int32_t r = 0; r < ranks(); ++r) all.push_back(contribution(r, at));
  return all;
}

std::vector<span> builder::contributions(const std::vector<std::int32_t>& ranks, piece at,
                                         piece slot) const {
  std::vector<span> all;
  for (const std::int32_t r : ranks) all.push_back(contribution(r, at, slot));
  return all;
}

piece builder::input_block(std::int32_t r, std::int32_t to) const {
  return {input_offset(problem_, r, to), block_count(problem_, r, to)};
}

piece builder::output_block(std::int32_t r, std::int32_t from) const {
  return {output_offset(problem_, r, from), block_count(problem_, from, r)};
}

bool builder::same_place(const span& a, const span& b) const {
  const auto place = [this](const span& s) {
    return s.where == space::input && aliased(problem_, s.rank) ? space::output : s.where;
  };
  return a.rank == b.rank && a.offset == b.offset && place(a) == place(b);
}

void builder::copy(span to, span from) {
  if (to.count == 0 || same_place(to, from)) return;
  made_.steps.push_back({.kind = step_kind::copy, .to = to, .sources = {from}});
}

void builder::copy_own_block() {
  if (gives(problem_, rank(), rank()))
    copy(output(output_block(rank(), rank())), input(input_block(rank(), rank())));
}

void builder::reduce(span to, std::vector<span> sources) {
  const bool as_bytes = !problem_.gaps || to.where == space::scratch;
  if (sources.size() == 1 && (as_bytes || same_place(to, sources[0]))) return copy(to, sources[0]);
  if (to.count == 0 || sources.empty()) return;
  made_.steps.push_back({.kind = step_kind::reduce, .to = to, .sources = std::move(sources)});
}

void builder::publish(piece at, piece slot) {
  if (!exposed_) copy(scratch(slot), input(at));
}

void builder::signal(std::int32_t peer) {
  if (peer != rank()) made_.steps.push_back({.kind = step_kind::signal, .peer = peer});
}

void builder::wait(std::int32_t peer) {
  if (peer != rank()) made_.steps.push_back({.kind = step_kind::wait, .peer = peer});
}

void builder::signal_input(std::int32_t peer) {
  if (!exposed_) signal(peer);
}

void builder::await_input(std::int32_t peer) {
  if (!exposed_) wait(peer);
}

void builder::meet() {
  signal(others());
  wait(others());
}

void builder::send(std::int32_t peer, span from) {
  if (from.count == 0) return;
  made_.steps.push_back({.kind = step_kind::send, .peer = peer, .sources = {from}});
}

void builder::receive(std::int32_t peer, span to) {
  if (to.count == 0) return;
  made_.steps.push_back({.kind = step_kind::receive, .peer = peer, .to = to});
}

}  // namespace telpher::coll
