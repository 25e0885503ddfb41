// SPDX-License-Identifier: BSD-3-Clause
// The look-up that runs in every call with a buffer: the addresses that are certainly host memory
// are recognised first (surely_host.hpp), of others the back ends are asked.
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "device/registry.hpp"
#include "memory/held_streams.hpp"
#include "memory/memory.hpp"

// The C library's record of the program break; some C libraries have none. sbrk(0) would give the
// same value. But host MPIs (through UCX) replace sbrk by a version that sets the break to the
// value it read; if another thread is in malloc at that moment, it loses memory that it has just
// got.
extern "C" char* __curbrk __attribute__((weak));

namespace telpher::memory {

constinit fixed_host_ranges host_ranges;
constinit thread_local TELPHER_NEAR_TLS address_range own_stack;

namespace {

// If the stack size is unlimited, the stack's range reaches down to the last mapping below it.
// Device memory may be placed in that range later, because runtimes choose addresses themselves. So
// only the uppermost part counts as stack.
constexpr std::uintptr_t most_stack = 8 << 20;

address_range find_stack() noexcept {
  address_range stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* low = nullptr;
  std::size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    stack.first = reinterpret_cast<std::uintptr_t>(low);
    stack.last = stack.first + bytes;
    stack.first = std::max(stack.first, stack.last - std::min(stack.last, most_stack));
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

// The first object that dl_iterate_phdr reports is the program itself.
address_range program_data() noexcept {
  address_range data;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<address_range*>(out) = mapped(*info);
        return 1;
      },
      &data);
  return data;
}

std::uintptr_t heap_end() noexcept {
  return &__curbrk ? reinterpret_cast<std::uintptr_t>(__atomic_load_n(&__curbrk, __ATOMIC_RELAXED))
                   : 0;
}

std::uintptr_t heap_start() noexcept {
  std::uintptr_t first = 0, last = 0;
  if (std::FILE* maps = std::fopen("/proc/self/maps", "re")) {
    char line[512];
    while (std::fgets(line, sizeof line, maps))
      if (std::strstr(line, "[heap]") && std::sscanf(line, "%lx-%lx", &first, &last) == 2) break;
    std::fclose(maps);
  }
  return last ? first : heap_end();
}

bool heap_is_host() noexcept {
  for (device::backend* b : device::backends())
    if (b->allocates_from_heap()) return false;
  return true;
}

// A start is stored before its end.
void find_ranges() noexcept {
  fixed_host_ranges& r = host_ranges;
  const address_range data = program_data();
  r.data_first.store(data.first, std::memory_order_relaxed);
  r.data_bytes.store(data.last - data.first, std::memory_order_release);
  if (!&__curbrk || !heap_is_host()) return;
  r.heap_first.store(heap_start(), std::memory_order_relaxed);
  r.heap_end.store(&__curbrk, std::memory_order_release);
}

place look_up(const void* address, bool detail, device::pointer_info& info) noexcept {
  if (!address || surely_host(address)) return {};
  for (device::backend* b : device::backends()) {
    if (!b->started() || b->classify(address, detail, info) != status::ok) continue;
    if (info.kind == device::memory_kind::host) continue;
    settle(*b, info);
    // This runtime knows the address, so no other back end owns it.
    return info.kind == device::memory_kind::device ? place{b, info.device} : place{};
  }
  return {};
}

}  // namespace

// Without a back end all memory is host memory. Nothing is kept then: one that is opened later may
// allocate from the heap.
bool surely_host_slow(std::uintptr_t address) noexcept {
  if (device::backends().empty()) return true;
  const address_range stack = find_stack();
  static std::once_flag once;
  std::call_once(once, find_ranges);
  own_stack = stack.last != 0 ? stack : address_range{1, 1};  // of no known stack no address
  return own_stack.holds(address) || surely_host(reinterpret_cast<const void*>(address));
}

void settle(device::backend& owner, const device::pointer_info& about) noexcept {
  owner.settle(about, !held_streams::instance().any());
}

place classify(const void* address) noexcept {
  device::pointer_info info;
  return look_up(address, false, info);
}

place classify(const void* address, device::pointer_info& info) noexcept {
  return look_up(address, true, info);
}

result<device::pointer_info> describe(const place& p, const void* address) noexcept {
  device::pointer_info info;
  TELPHER_TRY(p.owner->classify(address, true, info));
  return info;
}

}  // namespace telpher::memory
