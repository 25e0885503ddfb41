// SPDX-License-Identifier: BSD-3-Clause
// The functions that code compiled with -fsanitize=thread calls, for the checker in place of
// ThreadSanitizer; and the clock and the yield of what it runs (linked with --wrap).
#include "runtime.hpp"

#include <time.h>

#include "checker.hpp"

using model::access_kind;

namespace {

using optional_word = std::optional<std::uint64_t>;

template <class T>
T swap(volatile T* at, T operand, int order,
       optional_word (*change)(std::uint64_t, std::uint64_t, std::uint64_t), T expected = 0) {
  const void* place = const_cast<const T*>(at);
  if (model::in_model())
    return static_cast<T>(model::access({place, sizeof(T), access_kind::swap, order,
                                         static_cast<std::uint64_t>(operand),
                                         static_cast<std::uint64_t>(expected), change}));
  const T old = *at;
  if (const auto next = change(old, operand, expected)) *at = static_cast<T>(*next);
  return old;
}

optional_word swap_if(std::uint64_t old, std::uint64_t operand, std::uint64_t expected) {
  return old == expected ? optional_word(operand) : std::nullopt;
}

template <class T>
int compare(volatile T* at, T* expected, T desired, int order) {
  const T old = swap<T>(at, desired, order, swap_if, *expected);
  if (old == *expected) return 1;
  *expected = old;
  return 0;
}

}  // namespace

#define ATOMICS(bits, T)                                                                         \
  T __tsan_atomic##bits##_load(const volatile T* at, int order) {                                \
    if (!model::in_model()) return *at;                                                          \
    return static_cast<T>(                                                                       \
        model::access({const_cast<const T*>(at), sizeof(T), access_kind::load, order}));         \
  }                                                                                              \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int order) {                         \
    if (!model::in_model())                                                                      \
      *at = value;                                                                               \
    else                                                                                         \
      model::access({const_cast<const T*>(at), sizeof(T), access_kind::store, order, value});    \
  }                                                                                              \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int order) {                         \
    return swap<T>(at, value, order, [](auto, auto v, auto) { return optional_word(v); });       \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_add(volatile T* at, T value, int order) {                        \
    return swap<T>(at, value, order,                                                             \
                   [](auto o, auto v, auto) { return optional_word(static_cast<T>(o + v)); });   \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_sub(volatile T* at, T value, int order) {                        \
    return swap<T>(at, value, order,                                                             \
                   [](auto o, auto v, auto) { return optional_word(static_cast<T>(o - v)); });   \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_and(volatile T* at, T value, int order) {                        \
    return swap<T>(at, value, order, [](auto o, auto v, auto) { return optional_word(o & v); }); \
  }                                                                                              \
  T __tsan_atomic##bits##_fetch_or(volatile T* at, T value, int order) {                         \
    return swap<T>(at, value, order, [](auto o, auto v, auto) { return optional_word(o | v); }); \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T desired,      \
                                                    int order, int) {                            \
    return compare<T>(at, expected, desired, order);                                             \
  }                                                                                              \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T desired,        \
                                                  int order, int) {                              \
    return compare<T>(at, expected, desired, order);                                             \
  }                                                                                              \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T desired, int order, \
                                               int) {                                            \
    return swap<T>(at, desired, order, swap_if, expected);                                       \
  }

#define PLAIN(bytes)                                              \
  void __tsan_read##bytes(void* at) {                             \
    if (model::in_model()) model::plain_access(at, bytes, false); \
  }                                                               \
  void __tsan_write##bytes(void* at) {                            \
    if (model::in_model()) model::plain_access(at, bytes, true);  \
  }                                                               \
  void __tsan_unaligned_read##bytes(void* at) {                   \
    __tsan_read##bytes(at);                                       \
  }                                                               \
  void __tsan_unaligned_write##bytes(void* at) {                  \
    __tsan_write##bytes(at);                                      \
  }

extern "C" {
int __real_clock_gettime(clockid_t clock, timespec* t);
int __real_sched_yield();

ATOMICS(8, std::uint8_t)
ATOMICS(16, std::uint16_t)
ATOMICS(32, std::uint32_t)
ATOMICS(64, std::uint64_t)
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)
void __tsan_read_range(void* at, std::size_t bytes) {
  if (bytes > 0 && model::in_model()) model::plain_access(at, bytes, false);
}
void __tsan_write_range(void* at, std::size_t bytes) {
  if (bytes > 0 && model::in_model()) model::plain_access(at, bytes, true);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}

int __wrap_clock_gettime(clockid_t clock, timespec* t) {
  if (!model::in_model()) return __real_clock_gettime(clock, t);
  const std::uint64_t now = model::look_at_clock();
  t->tv_sec = static_cast<time_t>(now / 1'000'000'000);
  t->tv_nsec = static_cast<long>(now % 1'000'000'000);
  return 0;
}
int __wrap_sched_yield() {
  if (!model::in_model()) return __real_sched_yield();
  model::yield();
  return 0;
}
}
