// SPDX-License-Identifier: BSD-3-Clause
#include "memory/ipc_cache.hpp"
#include "memory/held_streams.hpp"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>

#include "base/log.hpp"
#include "base/settings.hpp"
#include "base/thread_use.hpp"

namespace telpher::memory {

namespace {

void close_when_free(const place& where, void* address) {
  held_streams::instance().call_when_free(
      [where, address] { static_cast<void>(where.owner->ipc_close(where.device, address)); });
}

// A millisecond clock: entries stay idle for seconds, and reading it costs a quarter of reading the
// steady clock.
struct clock {
  using duration = std::chrono::nanoseconds;
  using time_point = std::chrono::time_point<clock, duration>;
  static time_point now() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return time_point(std::chrono::seconds(t.tv_sec) + duration(t.tv_nsec));
  }
};

}  // namespace

struct ipc_entry {
  ipc_cache::key name;
  std::size_t bytes;   // size that the exporter reported when it was opened
  std::size_t opened;  // size that is mapped and may be accessed
  void* address;
  int users;
  int keepers;  // mappings that rest
  clock::time_point last_use;
};

namespace {

clock::duration idle_limit() noexcept {
  return std::chrono::nanoseconds(static_cast<long long>(config().ipc_cache_idle.value * 1e3));
}

status open(const place& importer, const device::ipc_handle& handle, void*& address) noexcept {
  auto opened = importer.owner->ipc_open(importer.device, handle);
  TELPHER_TRY(opened);
  address = *opened;
  return status::ok;
}

// The size of the mapping according to the back end, or `told` (the exporter's size) if the back
// end does not know.
std::size_t bytes_at(const place& importer, const void* address, std::size_t told) noexcept {
  device::pointer_info info;
  if (importer.owner->classify(address, true, info) != status::ok) return told;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const bool known = info.kind == device::memory_kind::device && at - info.base < info.bytes;
  return known ? info.bytes - (at - info.base) : told;
}

// A mismatch is not an error: the message is staged, because the exporter can read its own memory.
status check_size(int process, std::size_t told, std::size_t opened) noexcept {
  if (told <= opened) return status::ok;
  static std::atomic<bool> said{false};
  if (!said.exchange(true, std::memory_order_relaxed))
    TELPHER_WARN(
        "rank %d names an allocation of %zu bytes of which %zu could be opened: staging through "
        "host memory",
        process, told, opened);
  return status::not_supported;
}

}  // namespace

ipc_cache& ipc_cache::instance() noexcept {
  static auto* one = new ipc_cache;  // outlives static destructors
  return *one;
}

std::byte* ipc_cache::mapping::base() const noexcept {
  return static_cast<std::byte*>(entry_->address);
}

ipc_cache::mapping::~mapping() {
  if (!entry_) return;
  ipc_cache& cache = instance();
  const guard_threads lock(cache.guard_);
  --(rests_ ? entry_->keepers : entry_->users);
  if (!entry_->address) {
    if (entry_->users + entry_->keepers == 0)
      cache.closed_.remove_if([&](auto& e) { return &e == entry_; });
    return;
  }
  if (config().ipc_cache_entries == 0) cache.trim_locked(0, 0);
}

void ipc_cache::mapping::rest() noexcept {
  const guard_threads lock(instance().guard_);
  --entry_->users;
  ++entry_->keepers;
  rests_ = true;
}

void ipc_cache::mapping::touch() noexcept {
  const guard_threads lock(instance().guard_);
  entry_->last_use = clock::now();
}

ipc_cache::pause ipc_cache::pause_trimming() noexcept {
  const guard_threads lock(guard_);
  ++pauses_;
  return pause(true);
}

ipc_cache::pause::~pause() {
  if (!on_) return;
  const guard_threads lock(instance().guard_);
  --instance().pauses_;
}

result<ipc_cache::mapping> ipc_cache::acquire(const key& k, std::size_t bytes,
                                              const device::ipc_handle& handle) noexcept {
  const guard_threads lock(guard_);
  for (auto e = entries_.begin(); e != entries_.end(); ++e) {
    if (!(e->name == k)) continue;
    TELPHER_TRY(check_size(k.process, bytes, e->opened));
    entries_.splice(entries_.begin(), entries_, e);
    ++counters_.hits;
    ++e->users;
    e->last_use = clock::now();
    mapping m(&*e);
    if (e->last_use - entries_.back().last_use > idle_limit())
      trim_locked(static_cast<std::size_t>(config().ipc_cache_entries), config().ipc_cache_bytes);
    return m;
  }
  close_stale(k, bytes);
  // A handle must not be open twice, and what is still to be closed may be this one's.
  if (held_streams::instance().any_put_off()) return status::not_supported;
  void* address = nullptr;
  status s = open(k.importer, handle, address);
  if (s != status::ok && s != status::not_supported) {
    trim_locked(0, 0);  // the device may be out of mappings: close all idle ones and try again
    s = open(k.importer, handle, address);
  }
  if (s != status::ok) {
    if (++counters_.refused == 1)
      TELPHER_INFO(
          "device memory of rank %d cannot be opened here (%s): staging through host memory",
          k.process, to_string(s));
    return status::not_supported;
  }
  const std::size_t opened = bytes_at(k.importer, address, bytes);
  if (const status fits = check_size(k.process, bytes, opened); fits != status::ok) {
    close_when_free(k.importer, address);
    return fits;
  }
  ++counters_.opens;
  open_bytes_ += bytes;
  try {
    entries_.push_front({k, bytes, opened, address, 1, 0, clock::now()});
  } catch (const std::bad_alloc&) {
    close_when_free(k.importer, address);
    open_bytes_ -= bytes;
    return status::not_supported;
  }
  mapping m(&entries_.front());
  trim_locked(static_cast<std::size_t>(config().ipc_cache_entries), config().ipc_cache_bytes);
  return m;
}

void ipc_cache::close(ipc_entry& e) noexcept {
  close_when_free(e.name.importer, e.address);
  e.address = nullptr;
  ++counters_.closes;
  open_bytes_ -= e.bytes;
}

ipc_cache::iterator ipc_cache::drop(iterator e) noexcept {
  close(*e);
  if (e->keepers == 0) return entries_.erase(e);
  revoked_.fetch_add(1, std::memory_order_relaxed);
  const auto next = std::next(e);
  closed_.splice(closed_.begin(), entries_, e);
  return next;
}

// Closes stale mappings, even if somebody holds them. This is safe. An allocation that a peer names
// to us now is alive: its owner keeps it until we have answered the message, or until the
// collective that named it has ended. So whatever lay at the same addresses before has been freed.
// Its owner may free it only
// - after we have answered each message that was read from it or written into it. We answer when
//   the last copy is done (path::transfer). Another thread may still be about to release its
//   mapping, but then only the reference count is outstanding, which guard_ protects as well;
// - after the end of each collective in which it took part, when no device uses it any more. A
//   communicator that keeps the mapping for its next calls looks it up by its generation, and
//   generations are never reused.
void ipc_cache::close_stale(const key& k, std::size_t bytes) noexcept {
  for (auto e = entries_.begin(); e != entries_.end();) {
    const bool overlaps = e->name.process == k.process &&
                          e->name.importer.owner == k.importer.owner &&
                          e->name.base < k.base + bytes && k.base < e->name.base + e->bytes &&
                          e->name.generation != k.generation;
    const auto next = std::next(e);
    if (overlaps) {
      ++counters_.stale;
      close(*e);
      if (e->users + e->keepers == 0)
        entries_.erase(e);
      else
        closed_.splice(closed_.begin(), entries_, e);
    }
    e = next;
  }
}

void ipc_cache::trim_locked(std::size_t entries, std::size_t bytes) noexcept {
  const auto idle = idle_limit();
  const auto now = clock::now();
  for (auto e = entries_.end(); e != entries_.begin();) {
    --e;
    const bool over = (e->keepers == 0 && entries_.size() > entries) || open_bytes_ > bytes;
    const bool used = e->users > 0 || (e->keepers > 0 && pauses_ > 0);
    if (!used && (over || now - e->last_use > idle)) e = drop(e);
  }
}

void ipc_cache::trim_when_due() noexcept {
  const auto now = clock::now();
  if (now.time_since_epoch().count() < due_ns_.load(std::memory_order_relaxed)) return;
  const guard_threads lock(guard_);
  const auto next = now + std::max(idle_limit() / 4, clock::duration(std::chrono::milliseconds(1)));
  due_ns_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  trim_locked(static_cast<std::size_t>(config().ipc_cache_entries), config().ipc_cache_bytes);
}

void ipc_cache::clear() noexcept {
  const guard_threads lock(guard_);
  trim_locked(0, 0);
}

}  // namespace telpher::memory
