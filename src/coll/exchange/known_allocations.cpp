// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/known_allocations.hpp"

#include <algorithm>

#include "path/exported.hpp"

namespace telpher::coll::exchange {
namespace {

bool is_same(const path::exported_memory& x, const path::exported_memory& y) noexcept {
  return x.base == y.base && x.generation == y.generation;
}

// Runs of chunks overlap while they live (memory/chunk_runs.hpp).
bool exclude(const path::exported_memory& x, const path::exported_memory& y) noexcept {
  return !x.handle.is_run() && !y.handle.is_run() && x.base < y.base + y.allocation_bytes &&
         y.base < x.base + x.allocation_bytes;
}

}  // namespace

bool known_allocations::map(const named& n, const memory::place& where, bool& fresh) {
  for (entry& e : all_) {
    if (e.rank != n.rank || !is_same(e.memory, n.memory)) continue;
    e.last_call = n.call;
    if (e.mapping) e.mapping.touch();
    return true;
  }
  fresh = true;
  // Allocations that overlap the new one have been freed.
  std::erase_if(all_,
                [&](const entry& e) { return e.rank == n.rank && exclude(e.memory, n.memory); });
  entry made{n.rank, n.memory, {}, n.call};
  if (n.process != of_this_rank) {
    auto opened = path::open_for(n.process, n.memory, where);
    if (!opened) return false;
    made.mapping = std::move(opened->mapping);
    made.mapping.rest();
  }
  all_.push_back(std::move(made));
  return true;
}

std::uint64_t known_allocations::address_of(int rank,
                                            const path::exported_memory& m) const noexcept {
  for (const entry& e : all_)
    if (e.rank == rank && is_same(e.memory, m))
      return reinterpret_cast<std::uintptr_t>(e.mapping.base()) + (m.address - m.base);
  return 0;
}

bool known_allocations::lost_some() noexcept {
  const std::uint64_t seen = memory::allocations::instance().revoked();
  if (seen_revoked_ == seen) return lost_;
  seen_revoked_ = seen;
  for (const entry& e : all_) lost_ = lost_ || (e.mapping && !e.mapping.base());
  return lost_;
}

void known_allocations::forget_all() noexcept {
  all_.clear();
  lost_ = false;
}

void known_allocations::forget_named_in(std::uint64_t call) noexcept {
  std::erase_if(all_, [&](const entry& e) { return e.last_call == call; });
}

void known_allocations::drop_old(std::uint64_t call, int ranks) noexcept {
  constexpr std::uint64_t kept_calls = 1024;
  const auto most = static_cast<std::size_t>(8 * ranks);
  std::erase_if(all_, [&](const entry& e) { return e.last_call + kept_calls < call; });
  while (all_.size() > most) {
    const auto oldest = std::min_element(
        all_.begin(), all_.end(), [](auto& x, auto& y) { return x.last_call < y.last_call; });
    if (oldest->last_call == call) break;
    all_.erase(oldest);
  }
}

}  // namespace telpher::coll::exchange
