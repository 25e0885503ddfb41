// SPDX-License-Identifier: BSD-3-Clause
#include "memory/windows.hpp"

#include <atomic>
#include <cstring>
#include <new>

#include "memory/allocations.hpp"
#include "memory/window_copy.hpp"

namespace telpher::memory {
namespace {

// Its base is null if the allocation has none.
struct cpu_window final : facet {
  place where;
  device::pointer_info info;
  bool write_combined = false;
  ~cpu_window() override {
    if (base) where.owner->unmap_for_cpu(info, base);
  }
};

// A back end without any windows is asked only once. Read without the lock.
constexpr int vendors = 32;
std::atomic<bool> without_windows[vendors];

std::atomic<bool>& without(const place& p) noexcept {
  return without_windows[static_cast<std::size_t>(p.owner->owner()) % vendors];
}

result<std::unique_ptr<facet>> open(const place& p, const device::pointer_info& info) noexcept {
  auto made = std::unique_ptr<cpu_window>(new (std::nothrow) cpu_window);
  if (!made) return status::not_supported;
  const auto mapped = p.owner->map_for_cpu(info);
  if (mapped.error() == status::not_supported) without(p).store(true, std::memory_order_relaxed);
  made->where = p;
  made->info = info;
  made->base = static_cast<std::byte*>(mapped.value_or(nullptr));
  made->write_combined = mapped && p.owner->windows_write_combined(p.device);
  return std::unique_ptr<facet>(std::move(made));
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
  if (info.cpu_accessible) return {p, static_cast<std::byte*>(const_cast<void*>(address)), false};
  if (info.is_run) return {};  // a window shows one chunk
  if (without(p).load(std::memory_order_relaxed)) return {};
  const auto known = allocations::instance().acquire(facet::kind::window, allocation::own(p, info),
                                                     {p}, [&]() noexcept { return open(p, info); });
  if (!known || !known->base()) return {};
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(address) - info.base;
  return {p, known->base() + offset, static_cast<const cpu_window*>(known->what())->write_combined};
}

}  // namespace telpher::memory
