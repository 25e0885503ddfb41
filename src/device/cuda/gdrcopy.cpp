// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/gdrcopy.hpp"

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/library.hpp"
#include "base/log.hpp"

namespace telpher::device::cuda::gdrcopy {
namespace {

// The binary interface of the library; the same in all versions of GDRCopy 2.
struct session;
struct pinned {
  unsigned long number;
};

struct functions {
  session* (*open)() = nullptr;
  int (*pin)(session*, unsigned long address, std::size_t bytes, std::uint64_t, std::uint32_t,
             pinned* out) = nullptr;
  int (*unpin)(session*, pinned) = nullptr;
  int (*map)(session*, pinned, void** address, std::size_t bytes) = nullptr;
  int (*unmap)(session*, pinned, void* address, std::size_t bytes) = nullptr;
};

struct mapping {
  pinned handle;
  void* address;
  std::size_t bytes;
};

constexpr std::uintptr_t gpu_page = 64 * 1024;
// Pinning takes time proportional to the size, and the BAR is smaller than the device's memory.
constexpr std::size_t largest_allocation = std::size_t{256} << 20;

struct state {
  std::once_flag once;
  functions call;
  session* opened = nullptr;
  std::mutex guard;
  std::unordered_map<void*, mapping> mappings;  // key: the window's address
};

state& the() noexcept {
  static auto* one = new state;  // never destroyed: used until the process ends
  return *one;
}

bool find_functions(const library& l, functions& f) noexcept {
  return l.find("gdr_open", f.open) && l.find("gdr_pin_buffer", f.pin) &&
         l.find("gdr_unpin_buffer", f.unpin) && l.find("gdr_map", f.map) &&
         l.find("gdr_unmap", f.unmap);
}

void open_session(state& s) noexcept {
  std::string why;
  library l = library::open("libgdrapi.so.2", why);
  if (!l) l = library::open("libgdrapi.so", why);
  if (l && !find_functions(l, s.call)) why = "libgdrapi.so lacks functions of GDRCopy 2";
  if (l && s.call.unmap) {
    s.opened = s.call.open();
    why = "its kernel module does not answer (gdrdrv)";
  }
  if (s.opened)
    TELPHER_INFO("GDRCopy opened: small messages are copied through mapped device memory");
  else
    TELPHER_INFO("no GDRCopy, small messages go through the driver: %s", why.c_str());
}

}  // namespace

result<void*> map(const pointer_info& info) noexcept {
  state& s = the();
  std::call_once(s.once, [&s] { open_session(s); });
  if (!s.opened) return status::not_supported;
  if (info.bytes > largest_allocation) return status::out_of_memory;
  const std::uintptr_t first = info.base / gpu_page * gpu_page;
  const std::uintptr_t last = (info.base + info.bytes + gpu_page - 1) / gpu_page * gpu_page;
  mapping made{{}, nullptr, last - first};
  if (const int e = s.call.pin(s.opened, first, made.bytes, 0, 0, &made.handle); e != 0) {
    TELPHER_DEBUG("GDRCopy does not pin %zu bytes: error %d", info.bytes, e);
    return status::out_of_memory;
  }
  if (const int e = s.call.map(s.opened, made.handle, &made.address, made.bytes); e != 0) {
    TELPHER_DEBUG("GDRCopy does not map %zu bytes: error %d", info.bytes, e);
    s.call.unpin(s.opened, made.handle);
    return status::out_of_memory;
  }
  void* window = static_cast<char*>(made.address) + (info.base - first);
  const std::lock_guard lock(s.guard);
  s.mappings.emplace(window, made);
  return window;
}

void unmap(void* window) noexcept {
  state& s = the();
  const std::lock_guard lock(s.guard);
  const auto at = s.mappings.find(window);
  if (at == s.mappings.end()) return;
  const mapping gone = at->second;
  s.mappings.erase(at);
  s.call.unmap(s.opened, gone.handle, gone.address, gone.bytes);
  s.call.unpin(s.opened, gone.handle);
}

}  // namespace telpher::device::cuda::gdrcopy
