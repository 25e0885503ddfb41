// SPDX-License-Identifier: BSD-3-Clause
// The look-up that runs in every call with a buffer. A driver query takes half a microsecond for an
// address that the driver does not know. So the addresses that are certainly host memory are
// recognised first: the calling thread's stack, the program's static data and its brk heap. No
// answer is cached: a range that is host memory now may become device memory after an munmap.
#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/address_range.hpp"
#include "base/thread_local.hpp"
#include "device/registry.hpp"
#include "memory/memory.hpp"

// The C library's record of the program break; some C libraries have none. sbrk(0) would give the
// same value. But host MPIs (through UCX) replace sbrk by a version that sets the break to the
// value it read; if another thread is in malloc at that moment, it loses memory that it has just
// got.
extern "C" char* __curbrk __attribute__((weak));

namespace telpher::memory {
namespace {

// If the stack size is unlimited, the stack's range reaches down to the last mapping below it.
// Device memory may be placed in that range later, because runtimes choose addresses themselves. So
// only the uppermost part counts as stack.
constexpr std::uintptr_t most_stack = 8 << 20;

address_range own_stack() noexcept {
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

constinit thread_local TELPHER_NEAR_TLS address_range
    stack;  // empty until the thread's first look-up

[[gnu::cold, gnu::noinline]] bool on_stack_slow(std::uintptr_t a) noexcept {
  stack = own_stack();
  if (stack.last == 0) stack = {1, 1};  // not known: holds no address, and is not looked up again
  return stack.holds(a);
}

bool certainly_host(std::uintptr_t a) noexcept {
  struct fixed {
    address_range data = program_data();
    std::uintptr_t heap = heap_start();
  };
  static const fixed host;
  if (host.data.holds(a)) return true;
  if (stack.last != 0 ? stack.holds(a) : on_stack_slow(a)) return true;
  return a >= host.heap && a < heap_end() && heap_is_host();
}

place look_up(const void* address, bool detail, device::pointer_info& info) noexcept {
  if (!address || certainly_host(reinterpret_cast<std::uintptr_t>(address))) return {};
  for (device::backend* b : device::backends()) {
    if (!b->started() || b->classify(address, detail, info) != status::ok) continue;
    if (info.kind == device::memory_kind::device) return {b, info.device};
    if (info.kind != device::memory_kind::host)
      return {};  // this runtime knows the address, so no other back end owns it
  }
  return {};
}

}  // namespace

bool surely_host(const void* address) noexcept {
  return certainly_host(reinterpret_cast<std::uintptr_t>(address));
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
