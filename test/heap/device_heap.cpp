// SPDX-License-Identifier: BSD-3-Clause
// Preloaded before Telpher, it puts the larger allocations of a program that knows nothing of
// devices into memory of the emulated device. With TELPHER_TEST_EMU_CPU_ACCESS=on the program's
// code can use that memory like any other. So every MPI program is a test of Telpher: it passes
// device pointers to all its MPI calls, and its results are known from a run without.
//   DEVICE_HEAP_FROM    names (parts of them) of the libraries whose allocations are taken, with
//   commas;
//                       `program` is the program itself, and the default
//   DEVICE_HEAP_LEAST   bytes of the smallest allocation that is taken; 4096
//   DEVICE_HEAP_REPORT  anything: how much was taken is said when the process ends
// An allocation begins `header` bytes or more into its device memory: the word before it is where.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "telpher/telpher.h"

extern "C" {
// glibc's own, which do not come back here.
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* address, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* address);
}

namespace {

constexpr std::size_t header = 64;
struct placed {
  void* memory;  // what telpher_malloc gave
  std::size_t bytes;
};

std::size_t least = 4096;
std::string_view modules = "program";
std::atomic<std::size_t> taken_count{0}, taken_bytes{0};
// All that was ever taken lies between them, and nothing else does: one reservation of addresses.
std::atomic<std::uintptr_t> first{UINTPTR_MAX}, last{0};
thread_local bool inside __attribute__((tls_model("initial-exec"))) =
    false;  // Telpher allocates, too

[[gnu::constructor]] void begin() {
  if (const char* const text = std::getenv("DEVICE_HEAP_LEAST"))
    least = std::max(std::strtoul(text, nullptr, 10), 1ul);
  if (const char* const text = std::getenv("DEVICE_HEAP_FROM")) modules = text;
}

[[gnu::destructor]] void end() {
  if (std::getenv("DEVICE_HEAP_REPORT"))
    std::fprintf(stderr, "device heap: %zu allocations, %zu bytes\n", taken_count.load(),
                 taken_bytes.load());
}

bool is_chosen(void* caller) noexcept {
  dl_find_object found;
  if (_dl_find_object(caller, &found) != 0) return false;
  const char* const path = found.dlfo_link_map->l_name;
  const std::string_view name = *path ? path : "program";
  for (std::string_view rest = modules; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view wanted = rest.substr(0, comma);
    if (*path ? name.substr(name.rfind('/') + 1).find(wanted) != name.npos : name == wanted)
      return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

template <class F>
F* telpher(const char* name) noexcept {
  return reinterpret_cast<F*>(dlsym(RTLD_DEFAULT, name));
}

placed& placed_of(void* address) noexcept {
  return *(static_cast<placed*>(address) - 1);
}

bool is_taken(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= first.load(std::memory_order_acquire) && at <= last.load(std::memory_order_acquire);
}

/// Null: the C library's.
void* take(std::size_t bytes, void* caller, std::size_t alignment = header) noexcept {
  constexpr std::size_t page = 4096;
  if (bytes < least || alignment > page || inside || !is_chosen(caller)) return nullptr;
  inside = true;
  static auto* const allocate = telpher<decltype(telpher_malloc)>("telpher_malloc");
  const std::size_t offset = std::max(alignment, header);
  void* memory = nullptr;
  if (allocate && allocate(&memory, offset + bytes, TELPHER_MEMORY_DEVICE) != 0) memory = nullptr;
  inside = false;
  if (!memory) return nullptr;
  void* const address = static_cast<std::byte*>(memory) + offset;
  placed_of(address) = {memory, bytes};
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (auto was = first.load(); at < was && !first.compare_exchange_weak(was, at);) {
  }
  for (auto was = last.load(); at > was && !last.compare_exchange_weak(was, at);) {
  }
  taken_count.fetch_add(1, std::memory_order_relaxed);
  taken_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return address;
}

void* take_new(std::size_t bytes, void* caller) {
  void* const address = take(bytes, caller);
  if (address) return address;
  void* const plain = __libc_malloc(bytes);
  if (!plain) throw std::bad_alloc();
  return plain;
}

void* aligned(std::size_t alignment, std::size_t bytes, void* caller) noexcept {
  void* const address = take(bytes, caller, alignment);
  return address ? address : __libc_memalign(alignment, bytes);
}

void* resize(void* address, std::size_t bytes, void* caller) noexcept {
  if (address && !is_taken(address)) return __libc_realloc(address, bytes);
  void* moved = take(bytes, caller);
  if (!moved) moved = __libc_malloc(bytes);
  if (!address || !moved) return moved;
  std::memcpy(moved, address, std::min(bytes, placed_of(address).bytes));
  std::free(address);
  return moved;
}

}  // namespace

#define CALLER __builtin_return_address(0)

extern "C" {

[[gnu::visibility("default")]] void* malloc(std::size_t bytes) {
  void* const address = take(bytes, CALLER);
  return address ? address : __libc_malloc(bytes);
}

[[gnu::visibility("default")]] void* calloc(std::size_t count, std::size_t bytes) {
  std::size_t all = 0;
  void* const address = __builtin_mul_overflow(count, bytes, &all) ? nullptr : take(all, CALLER);
  return address ? std::memset(address, 0, all) : __libc_calloc(count, bytes);
}

[[gnu::visibility("default")]] void free(void* address) {
  if (!is_taken(address)) return __libc_free(address);
  static auto* const release = telpher<decltype(telpher_free)>("telpher_free");
  const bool was_inside = inside;
  inside = true;
  release(placed_of(address).memory);
  inside = was_inside;
}

[[gnu::visibility("default")]] void* realloc(void* address, std::size_t bytes) {
  return resize(address, bytes, CALLER);
}

[[gnu::visibility("default")]] void* reallocarray(void* address, std::size_t count,
                                                  std::size_t bytes) {
  std::size_t all = 0;
  if (!__builtin_mul_overflow(count, bytes, &all)) return resize(address, all, CALLER);
  errno = ENOMEM;
  return nullptr;
}

[[gnu::visibility("default")]] std::size_t malloc_usable_size(void* address) {
  static auto* const of_libc =
      reinterpret_cast<std::size_t (*)(void*)>(dlsym(RTLD_NEXT, "malloc_usable_size"));
  return is_taken(address) ? placed_of(address).bytes : of_libc(address);
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes, CALLER);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes, CALLER);
}

[[gnu::visibility("default")]] int posix_memalign(void** out, std::size_t alignment,
                                                  std::size_t bytes) {
  *out = aligned(alignment, bytes, CALLER);
  return *out ? 0 : ENOMEM;
}

}  // extern "C"

// The C++ library's would call malloc themselves. What they give is freed by free.
[[gnu::visibility("default")]] void* operator new(std::size_t bytes) {
  return take_new(bytes, CALLER);
}
[[gnu::visibility("default")]] void* operator new[](std::size_t bytes) {
  return take_new(bytes, CALLER);
}
[[gnu::visibility("default")]] void operator delete(void* address) noexcept {
  free(address);
}
[[gnu::visibility("default")]] void operator delete[](void* address) noexcept {
  free(address);
}
[[gnu::visibility("default")]] void operator delete(void* address, std::size_t) noexcept {
  free(address);
}
[[gnu::visibility("default")]] void operator delete[](void* address, std::size_t) noexcept {
  free(address);
}
