// SPDX-License-Identifier: BSD-3-Clause
#include "memory/windows.hpp"

#include <atomic>
#include <cstring>
#include <list>
#include <mutex>

#include "memory/window_copy.hpp"

namespace telpher::memory {
namespace {

constexpr std::size_t most_open = 128;

struct entry {
  place where;
  device::pointer_info info;
  void* window;  // null: this allocation has none
  bool write_combined;
};

// A back end without any windows is asked only once. Read without the lock.
constexpr int vendors = 32;
std::atomic<bool> without_windows[vendors];

std::atomic<bool>& without(const place& p) noexcept {
  return without_windows[static_cast<std::size_t>(p.owner->owner()) % vendors];
}

std::mutex guard;
std::list<entry>& open_windows() {  // most recently used first
  static auto* one = new std::list<entry>;
  return *one;
}

void close(const entry& e) noexcept {
  if (e.window) e.where.owner->unmap_for_cpu(e.info, e.window);
}

const entry& find_or_open(const place& p, const device::pointer_info& info) noexcept {
  auto& all = open_windows();
  for (auto e = all.begin(); e != all.end(); ++e) {
    if (!(e->where == p) || e->info.base != info.base) continue;
    if (e->info.generation == info.generation) {
      all.splice(all.begin(), all, e);
      return all.front();
    }
    close(*e);
    all.erase(e);
    break;
  }
  if (all.size() >= most_open) {
    close(all.back());
    all.pop_back();
  }
  const auto opened = p.owner->map_for_cpu(info);
  if (opened.error() == status::not_supported) without(p).store(true, std::memory_order_relaxed);
  const bool combined = opened && p.owner->windows_write_combined(p.device);
  all.push_front({p, info, opened.value_or(nullptr), combined});
  return all.front();
}

}  // namespace

void window::load(void* to, std::size_t bytes) const noexcept {
  where_.owner->order_windows(where_.device);
  if (write_combined_)
    load_from_window(to, address_, bytes);
  else
    std::memcpy(to, address_, bytes);
}

void window::store(const void* from, std::size_t bytes) const noexcept {
  if (write_combined_)
    store_to_window(address_, from, bytes);
  else
    std::memcpy(address_, from, bytes);
  where_.owner->order_windows(where_.device);
}

window open_window(const place& p, const device::pointer_info& info, const void* address) noexcept {
  if (without(p).load(std::memory_order_relaxed)) return {};
  std::lock_guard lock(guard);
  const entry& e = find_or_open(p, info);
  if (!e.window) return {};
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - info.base;
  return {p, static_cast<std::byte*>(e.window) + offset, e.write_combined};
}

void release_windows() noexcept {
  std::lock_guard lock(guard);
  for (const entry& e : open_windows()) close(e);
  open_windows().clear();
}

}  // namespace telpher::memory
