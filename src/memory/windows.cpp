// SPDX-License-Identifier: BSD-3-Clause
#include "memory/windows.hpp"

#include <atomic>
#include <list>
#include <mutex>

namespace telpher::memory {
namespace {

constexpr std::size_t most_open = 128;

struct entry {
  place where;
  device::pointer_info info;
  void* window;  // null: the device refused
};

// A back end that refused a window has none at all: it is not asked again. Read without the lock.
constexpr int vendors = 8;
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
  all.push_front({p, info, p.owner->map_for_cpu(info).value_or(nullptr)});
  return all.front();
}

}  // namespace

std::byte* window(const place& p, const device::pointer_info& info, const void* address) noexcept {
  if (without(p).load(std::memory_order_relaxed)) return nullptr;
  std::lock_guard lock(guard);
  const entry& e = find_or_open(p, info);
  if (!e.window) {
    without(p).store(true, std::memory_order_relaxed);
    return nullptr;
  }
  return static_cast<std::byte*>(e.window) +
         (reinterpret_cast<std::uintptr_t>(address) - info.base);
}

void release_windows() noexcept {
  std::lock_guard lock(guard);
  for (const entry& e : open_windows()) close(e);
  open_windows().clear();
}

}  // namespace telpher::memory
