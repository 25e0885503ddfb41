// SPDX-License-Identifier: BSD-3-Clause
#include "memory/allocations.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>

#include "base/settings.hpp"
#include "memory/chunk_runs.hpp"

namespace telpher::memory {
namespace {

// A millisecond clock: facets stay idle for seconds, and reading it costs a quarter of reading the
// steady clock.
using duration = std::chrono::nanoseconds;
duration now() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::chrono::seconds(t.tv_sec) + duration(t.tv_nsec);
}

duration idle_limit() noexcept {
  return duration(static_cast<long long>(config().ipc_cache_idle.value * 1e3));
}

// Handles of so many allocations are kept; a handle takes no memory of a device.
constexpr std::size_t most_exported = 256;
// Windows and registrations: mappings of the processor or the network, which have limits of their
// own (a BAR of some GB up to all of the memory) and then refuse.
constexpr std::size_t most_windows = 128;
constexpr std::size_t most_mapped_bytes = std::size_t{64} << 30;

}  // namespace

struct allocations::entry {
  facet::kind kind;
  allocation of;
  facet_user user;
  std::unique_ptr<facet> what;  // null: closed
  int users = 0;
  int keepers = 0;  // that rest
  duration last_use{};
  bool ended = false;
};

allocations& allocations::instance() noexcept {
  static auto* const one = new allocations;  // outlives static destructors
  return *one;
}

allocations::limits allocations::limits_of(facet::kind k) noexcept {
  const settings& s = config();
  switch (k) {
    case facet::kind::exported:
      return {most_exported, std::numeric_limits<std::size_t>::max()};
    case facet::kind::window:
      return {most_windows, most_mapped_bytes};
    case facet::kind::registered:
      return {static_cast<std::size_t>(s.rdma_cache_entries), most_mapped_bytes};
    default:
      return {static_cast<std::size_t>(s.ipc_cache_entries), s.ipc_cache_bytes};
  }
}

// --- references ---

std::byte* allocations::held::base() const noexcept {
  return entry_->what ? entry_->what->base : nullptr;
}
facet* allocations::held::what() const noexcept {
  return entry_->what.get();
}

allocations::held::~held() {
  if (!entry_) return;
  allocations& all = instance();
  const guard_threads lock(all.guard_);
  --(rests_ ? entry_->keepers : entry_->users);
  if (entry_->ended) {
    if (entry_->users + entry_->keepers == 0)
      all.ended_.remove_if([&](const entry& e) { return &e == entry_; });
    return;
  }
  const limits most = limits_of(entry_->kind);
  if (most.entries == 0) all.trim_to(entry_->kind, most);
}

void allocations::held::rest() noexcept {
  const guard_threads lock(instance().guard_);
  --entry_->users;
  ++entry_->keepers;
  rests_ = true;
}

void allocations::held::touch() noexcept {
  const guard_threads lock(instance().guard_);
  entry_->last_use = now();
}

allocations::pause allocations::pause_trimming() noexcept {
  const guard_threads lock(guard_);
  ++pauses_;
  return pause(true);
}

allocations::pause::~pause() {
  if (!on_) return;
  const guard_threads lock(instance().guard_);
  --instance().pauses_;
}

// --- finding and opening ---

allocations::held allocations::find(facet::kind k, const allocation& a,
                                    const facet_user& user) noexcept {
  shelf& s = of(k);
  for (auto e = s.entries.begin(); e != s.entries.end(); ++e) {
    if (!e->of.same(a) || !(e->user == user)) continue;
    s.entries.splice(s.entries.begin(), s.entries, e);
    ++s.count.hits;
    ++e->users;
    e->last_use = now();
    held known(&*e);
    if (e->last_use - s.entries.back().last_use > idle_limit()) trim_to(k, limits_of(k));
    return known;
  }
  return {};
}

result<allocations::held> allocations::insert(facet::kind k, const allocation& a,
                                              const facet_user& user,
                                              std::unique_ptr<facet> what) noexcept {
  used_.store(true, std::memory_order_relaxed);
  shelf& s = of(k);
  try {
    s.entries.push_front({k, a, user, std::move(what), 1, 0, now()});
  } catch (const std::bad_alloc&) {
    return status::not_supported;
  }
  ++s.count.opens;
  s.bytes += a.bytes;
  held fresh(&s.entries.front());
  trim_to(k, limits_of(k));
  return fresh;
}

// --- closing ---

bool allocations::is_used(const entry& e) const noexcept {
  return e.users > 0 || (e.keepers > 0 && pauses_ > 0);
}

allocations::list::iterator allocations::close(shelf& s, list::iterator e) noexcept {
  s.bytes -= e->of.bytes;
  ++s.count.closes;
  if (e->kind == facet::kind::exported) exports_closed_.fetch_add(1, std::memory_order_relaxed);
  const bool at_once = e->users == 0 || e->kind == facet::kind::imported;
  if (e->of.is_run ? !is_used(*e) : at_once) e->what.reset();
  if (e->users + e->keepers == 0) return s.entries.erase(e);
  if (e->keepers > 0 && !e->what) revoked_.fetch_add(1, std::memory_order_relaxed);
  e->ended = true;
  const auto next = std::next(e);
  ended_.splice(ended_.begin(), s.entries, e);
  return next;
}

// An imported facet is closed even if somebody holds it. This is safe, because its owner may free
// the allocation (but for a run of chunks) only
// - after we have answered each message that was read from it or written into it. We answer when
//   the last copy is done (path::transfer). Another thread may still be about to release its
//   reference, but then only the count is outstanding, which guard_ protects as well;
// - after the end of each collective in which it took part, when no device uses it any more. A
//   communicator that keeps the mapping for its next calls looks it up by its generation, and
//   generations are never reused.
template <class Test>
void allocations::end_those(Test&& test) noexcept {
  for (shelf& s : shelves_)
    for (auto e = s.entries.begin(); e != s.entries.end();) {
      if (!test(e->of)) {
        ++e;
        continue;
      }
      ++s.count.ended;
      if (e->kind == facet::kind::exported)
        if (auto* const post = post_.load()) post(e->of);
      e = close(s, e);
    }
}

void allocations::ended(std::int32_t process, std::uint64_t base,
                        std::uint64_t generation) noexcept {
  const guard_threads lock(guard_);
  end_those([&](const allocation& one) {
    return one.process == process && one.base == base && one.generation == generation;
  });
}

// An allocation that is named to us now is alive. So what lay at the same addresses has ended.
void allocations::end_others(const allocation& now_there) noexcept {
  end_those([&](const allocation& one) {
    return one.generation != now_there.generation && one.excludes(now_there);
  });
}

void allocations::some_ended(std::int32_t process) noexcept {
  const guard_threads lock(guard_);
  shelf& s = of(facet::kind::imported);
  for (auto e = s.entries.begin(); e != s.entries.end();) {
    e = e->of.process == process && !is_used(*e) ? close(s, e) : std::next(e);
  }
}

// The driver is asked once for each own allocation and kind of facet.
void allocations::look_again() noexcept {
  end_those([](const allocation& one) {
    if (one.process != allocation::own_process) return false;
    if (!one.owner->started()) return false;
    if (one.is_run) return !run_is_there(one);
    device::pointer_info info;
    if (failed(one.owner->classify(reinterpret_cast<void*>(one.base), true, info))) return false;
    return info.kind != device::memory_kind::device || info.base != one.base ||
           info.generation != one.generation;
  });
}

// Those that were in use at their end, and that somebody keeps.
void allocations::close_ended_runs() noexcept {
  for (entry& e : ended_) {
    if (!e.of.is_run || !e.what || is_used(e)) continue;
    e.what.reset();
    revoked_.fetch_add(1, std::memory_order_relaxed);
  }
}

void allocations::trim_to(facet::kind k, const limits& most) noexcept {
  shelf& s = of(k);
  // Only mappings of peers' memory keep what the program may want: own memory ends here.
  const auto idle = k == facet::kind::imported ? idle_limit() : duration::max();
  const auto at = now();
  for (auto e = s.entries.end(); e != s.entries.begin();) {
    --e;
    const bool over = (e->keepers == 0 && s.entries.size() > most.entries) || s.bytes > most.bytes;
    if (!is_used(*e) && (over || at - e->last_use > idle)) e = close(s, e);
  }
}

bool allocations::due() const noexcept {
  return used_.load(std::memory_order_relaxed) &&
         now().count() >= due_ns_.load(std::memory_order_relaxed);
}

void allocations::tidy() noexcept {
  const guard_threads lock(guard_);
  constexpr duration shortest = std::chrono::milliseconds(1), longest = std::chrono::seconds(1);
  const auto next = now() + std::clamp(idle_limit() / 4, shortest, longest);
  due_ns_.store(next.count(), std::memory_order_relaxed);
  look_again();
  close_ended_runs();
  for (std::size_t k = 0; k < kinds; ++k) {
    const auto each = static_cast<facet::kind>(k);
    trim_to(each, limits_of(each));
  }
}

void allocations::clear(facet::kind k) noexcept {
  const guard_threads lock(guard_);
  trim_to(k, {0, 0});
}

void allocations::clear() noexcept {
  for (std::size_t k = 0; k < kinds; ++k) clear(static_cast<facet::kind>(k));
}

}  // namespace telpher::memory
