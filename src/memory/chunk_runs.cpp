// SPDX-License-Identifier: BSD-3-Clause
#include "memory/chunk_runs.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <list>
#include <mutex>
#include <new>
#include <optional>

#include "base/lasting.hpp"
#include "base/settings.hpp"

namespace telpher::memory {
namespace {

using chunk = device::pointer_info;

constexpr std::size_t shortest_stride = std::size_t{32} << 20;
constexpr std::size_t longest_bytes = std::size_t{1} << 47;  // more than there are addresses
// As many as there may be exported facets.
constexpr std::size_t most_runs = 256;
// Back ends number what they allocate and map otherwise. So a run never has another's generation.
constexpr std::uint64_t run_mark = std::uint64_t{1} << 62;

struct run {
  place where;
  std::uintptr_t base;
  std::size_t bytes;
  std::uint64_t generation;
  std::vector<chunk> chunks;

  bool holds(std::uintptr_t at, std::size_t wanted) const noexcept {
    return at >= base && wanted <= bytes && at - base <= bytes - wanted;
  }
};

struct table {
  std::mutex guard;
  std::list<run> all;  // the last used first
  std::uint64_t numbers = 0;
};
lasting<table> known;

std::uintptr_t end_of(const chunk& c) noexcept {
  return c.base + c.bytes;
}

bool may_follow(const chunk& one, const chunk& other) noexcept {
  return other.is_chunk && other.exportable && other.kind == device::memory_kind::device &&
         other.device == one.device && other.bytes > 0;
}

// A failure is logged where it happens. Then the chunk counts as none.
chunk look(const place& p, std::uintptr_t at) noexcept {
  chunk found;
  if (failed(p.owner->classify(reinterpret_cast<const void*>(at), true, found))) return {};
  return found;
}

bool is_mapped(const place& p, const chunk& c) noexcept {
  const chunk now = look(p, c.base);
  return now.is_chunk && now.base == c.base && now.bytes == c.bytes &&
         now.generation == c.generation;
}

bool all_mapped(const run& r, std::uintptr_t from, std::uintptr_t to) noexcept {
  return std::all_of(r.chunks.begin(), r.chunks.end(), [&](const chunk& c) {
    return c.base >= to || end_of(c) <= from || is_mapped(r.where, c);
  });
}

// --- a run is made ---

void add_behind(const place& p, std::uintptr_t end, std::size_t most, std::vector<chunk>& to) {
  while (end_of(to.back()) < end && to.size() < most) {
    const chunk next = look(p, end_of(to.back()));
    if (!may_follow(to.back(), next) || next.base != end_of(to.back())) return;
    to.push_back(next);
  }
}

void add_before(const place& p, std::uintptr_t first, std::size_t most, std::vector<chunk>& to) {
  std::reverse(to.begin(), to.end());
  while (to.back().base > first && to.size() < most) {
    const chunk next = look(p, to.back().base - 1);
    if (!may_follow(to.back(), next) || end_of(next) != to.back().base) break;
    to.push_back(next);
  }
  std::reverse(to.begin(), to.end());
}

// First the chunks under the bytes, then the others of the place, as far as there are descriptors.
std::optional<run> make(const place& p, const chunk& first, std::uintptr_t at, std::size_t bytes) {
  const std::size_t stride = std::bit_ceil(std::max(bytes, shortest_stride));
  const std::uintptr_t begin = at / stride * stride;
  const std::size_t most = most_descriptors() / 2;
  std::vector<chunk> chunks{first};
  add_behind(p, at + bytes, most, chunks);
  if (end_of(chunks.back()) < at + bytes) return std::nullopt;
  add_behind(p, begin + 2 * stride, most, chunks);
  add_before(p, begin, most, chunks);
  const std::uintptr_t base = chunks.front().base;
  return run{p, base, end_of(chunks.back()) - base, run_mark | ++known->numbers, std::move(chunks)};
}

chunk description(const run& r) noexcept {
  chunk all = r.chunks.front();
  all.bytes = r.bytes;
  all.generation = r.generation;
  all.is_run = true;
  return all;
}

// With the lock; `gone` gets the runs that have ended.
chunk find_or_make(const place& p, const chunk& first, std::uintptr_t at, std::size_t bytes,
                   std::list<run>& gone) {
  std::list<run>& all = known->all;
  for (auto r = all.begin(); r != all.end();) {
    const auto next = std::next(r);
    if (r->where == p && r->holds(at, bytes)) {
      const bool there = all_mapped(*r, at, at + bytes);
      there ? all.splice(all.begin(), all, r) : gone.splice(gone.end(), all, r);
      if (there) return description(all.front());
    }
    r = next;
  }
  auto made = make(p, first, at, bytes);
  if (!made) return first;
  all.push_front(std::move(*made));
  if (all.size() > most_runs) gone.splice(gone.end(), all, std::prev(all.end()));
  return description(all.front());
}

}  // namespace

std::size_t most_descriptors() noexcept {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return 0;
  constexpr rlim_t enough = 1 << 16;
  return static_cast<std::size_t>(std::min(most.rlim_cur, enough) / 2);
}

device::pointer_info holding(const place& p, const device::pointer_info& info, const void* address,
                             std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (!may_follow(info, info) || at - info.base >= info.bytes ||
      bytes <= info.bytes - (at - info.base) || bytes > longest_bytes || !config().ipc)
    return info;
  std::list<run> gone;
  device::pointer_info found = info;
  try {
    const std::lock_guard lock(known->guard);
    found = find_or_make(p, info, at, bytes, gone);
  } catch (const std::bad_alloc&) {
  }
  for (const run& r : gone)
    allocations::instance().ended(allocation::own_process, r.base, r.generation);
  return found;
}

std::vector<device::pointer_info> chunks_of(const device::pointer_info& of) noexcept {
  const std::lock_guard lock(known->guard);
  for (const run& r : known->all)
    if (r.generation == of.generation) try {
        return r.chunks;
      } catch (const std::bad_alloc&) {
      }
  return {};
}

bool run_is_there(const allocation& of) noexcept {
  const std::lock_guard lock(known->guard);
  std::list<run>& all = known->all;
  const auto r = std::find_if(all.begin(), all.end(),
                              [&](const run& one) { return one.generation == of.generation; });
  if (r == all.end()) return false;
  if (all_mapped(*r, r->base, r->base + r->bytes)) return true;
  all.erase(r);
  return false;
}

}  // namespace telpher::memory
