// SPDX-License-Identifier: BSD-3-Clause
// Atomic accesses with a scope: `system` includes the host and other devices, `device` is one
// device. Most of what differs between the languages is here and in lang.hpp; the rest is in
// vec.hpp, bits.hpp, flagged_word.hpp and exchange_operands.hpp. Addresses are already resolved.
#pragma once

#include "kernel/lang.hpp"
#include "kernel/vec.hpp"

namespace telpher::kernel {

/// 16 bytes. A GPU loads and stores them in one access. A CPU uses two, in an order in which a
/// reader that sees a new `high` also sees its `low`.
struct alignas(16) word_pair {
  std::uint64_t low;
  std::uint64_t high;
};

#if defined(TELPHER_LANGUAGE_CUDA)

// Callers need acquire and release only. __threadfence_system() is sequentially consistent, which
// is slower.
TELPHER_DEVICE void fence_system() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

TELPHER_DEVICE std::uint32_t load_acquire_system(const std::uint32_t* at) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
}

TELPHER_DEVICE void store_release_system(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

TELPHER_DEVICE std::uint64_t load_acquire_system(const std::uint64_t* at) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

TELPHER_DEVICE void store_release_system(std::uint64_t* at, std::uint64_t value) {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

/// Loads 8 bytes in one access, unordered with other accesses: for words that carry their own flag.
TELPHER_DEVICE std::uint64_t load_relaxed_system(const std::uint64_t* at) {
  std::uint64_t value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}

TELPHER_DEVICE void store_relaxed_system(std::uint64_t* at, std::uint64_t value) {
  asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
TELPHER_DEVICE void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

/// A store after the work item's system-scope fence. On a CPU the fence is part of this store
/// (release).
TELPHER_DEVICE void store_published(std::uint64_t* at, std::uint64_t value) {
  store_relaxed_system(at, value);
}
TELPHER_DEVICE void store_published(std::uint32_t* at, std::uint32_t value) {
  store_relaxed_system(at, value);
}

/// Adds and returns the old value; acquire and release at device scope.
TELPHER_DEVICE std::uint32_t fetch_add_device(std::uint32_t* at, std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.acq_rel.gpu.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(at), "r"(value)
               : "memory");
  return old;
}

TELPHER_DEVICE void add_release_system(std::uint64_t* at, std::uint64_t value) {
  asm volatile("red.release.sys.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}

/// Compare-and-swap: stores `value` if the word is `expected`, and returns what the word was.
/// Acquire and release at device scope.
TELPHER_DEVICE std::uint32_t exchange_if_device(std::uint32_t* at, std::uint32_t expected,
                                                std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.acq_rel.gpu.cas.b32 %0, [%1], %2, %3;"
               : "=r"(old)
               : "l"(at), "r"(expected), "r"(value)
               : "memory");
  return old;
}

/// One access of 16 aligned bytes; relaxed, system scope.
TELPHER_DEVICE word_pair load_pair_system(const void* at) {
  word_pair value;
  asm volatile("{ .reg .b128 pair; ld.relaxed.sys.b128 pair, [%2]; mov.b128 {%0, %1}, pair; }"
               : "=l"(value.low), "=l"(value.high)
               : "l"(at)
               : "memory");
  return value;
}

TELPHER_DEVICE void store_pair_system(void* at, word_pair pair) {
  asm volatile(
      "{ .reg .b128 pair; mov.b128 pair, {%1, %2}; st.relaxed.sys.b128 [%0], pair; }" ::"l"(at),
      "l"(pair.low), "l"(pair.high)
      : "memory");
}

/// Loads of bytes that lie where a word says that this block has read. Whoever wrote the word had
/// the bytes before. begin() is called by those who have read the word, between both.
/// No fence is needed: NVIDIA's GPUs do not load before they have the address, and loads of system
/// scope are not served from the lines that a processor keeps.
struct fresh_loads {
  TELPHER_DEVICE static void begin() {}
  template <class V>
  TELPHER_DEVICE static typename access<V>::type load(const std::uint8_t* at) {
    if constexpr (sizeof(V) == 16) {
      const word_pair p = load_pair_system(at);
      return {static_cast<unsigned>(p.low), static_cast<unsigned>(p.low >> 32),
              static_cast<unsigned>(p.high), static_cast<unsigned>(p.high >> 32)};
    } else if constexpr (sizeof(V) == 8) {
      return load_relaxed_system(reinterpret_cast<const std::uint64_t*>(at));
    } else if constexpr (sizeof(V) == 4) {
      std::uint32_t value;
      asm volatile("ld.relaxed.sys.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
      return value;
    } else {
      static_assert(sizeof(V) == 1);
      std::uint32_t value;
      asm volatile("ld.relaxed.sys.u8 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
      return static_cast<std::uint8_t>(value);
    }
  }
};

#elif defined(TELPHER_LANGUAGE_HIP)

TELPHER_DEVICE void fence_system() {
  __threadfence_system();
}

TELPHER_DEVICE std::uint32_t load_acquire_system(const std::uint32_t* at) {
  return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE void store_release_system(std::uint32_t* at, std::uint32_t value) {
  __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE std::uint64_t load_acquire_system(const std::uint64_t* at) {
  return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE void store_release_system(std::uint64_t* at, std::uint64_t value) {
  __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE std::uint64_t load_relaxed_system(const std::uint64_t* at) {
  return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE void store_relaxed_system(std::uint64_t* at, std::uint64_t value) {
  __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}
TELPHER_DEVICE void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  __hip_atomic_store(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE void store_published(std::uint64_t* at, std::uint64_t value) {
  store_relaxed_system(at, value);
}
TELPHER_DEVICE void store_published(std::uint32_t* at, std::uint32_t value) {
  store_relaxed_system(at, value);
}

TELPHER_DEVICE std::uint32_t fetch_add_device(std::uint32_t* at, std::uint32_t value) {
  return __hip_atomic_fetch_add(at, value, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
}

TELPHER_DEVICE void add_release_system(std::uint64_t* at, std::uint64_t value) {
  __hip_atomic_fetch_add(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}

TELPHER_DEVICE std::uint32_t exchange_if_device(std::uint32_t* at, std::uint32_t expected,
                                                std::uint32_t value) {
  __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}

// HIP has no 16-byte atomic. A volatile 16-byte vector load is one instruction on every gfx9. Each
// half of a command carries its own sequence number, so nothing more is needed.
TELPHER_DEVICE word_pair load_pair_system(const void* at) {
  using vector = std::uint64_t __attribute__((ext_vector_type(2)));
  const vector v = *static_cast<const volatile vector*>(at);
  return {v.x, v.y};
}
TELPHER_DEVICE void store_pair_system(void* at, word_pair pair) {
  using vector = std::uint64_t __attribute__((ext_vector_type(2)));
  *static_cast<volatile vector*>(at) = vector{pair.low, pair.high};
}

#elif defined(TELPHER_LANGUAGE_SYCL)

word_pair load_pair_system(const void*);  // only used by kernels that poll; SYCL has none
void store_pair_system(void*, word_pair);

namespace sycl_detail {
template <sycl::memory_scope scope, class T>
auto atomic(T* at) {
  return sycl::atomic_ref<T, sycl::memory_order::relaxed, scope,
                          sycl::access::address_space::global_space>(*at);
}
/// For a word in a block's shared memory.
template <class T>
auto shared_atomic(T* at) {
  return sycl::atomic_ref<T, sycl::memory_order::relaxed, sycl::memory_scope::work_group,
                          sycl::access::address_space::local_space>(*at);
}
}  // namespace sycl_detail

TELPHER_DEVICE void fence_system() {
  sycl::atomic_fence(sycl::memory_order::acq_rel, sycl::memory_scope::system);
}

TELPHER_DEVICE std::uint32_t load_acquire_system(const std::uint32_t* at) {
  return sycl_detail::atomic<sycl::memory_scope::system>(const_cast<std::uint32_t*>(at))
      .load(sycl::memory_order::acquire);
}

TELPHER_DEVICE void store_release_system(std::uint32_t* at, std::uint32_t value) {
  sycl_detail::atomic<sycl::memory_scope::system>(at).store(value, sycl::memory_order::release);
}

TELPHER_DEVICE std::uint64_t load_acquire_system(const std::uint64_t* at) {
  return sycl_detail::atomic<sycl::memory_scope::system>(const_cast<std::uint64_t*>(at))
      .load(sycl::memory_order::acquire);
}

TELPHER_DEVICE void store_release_system(std::uint64_t* at, std::uint64_t value) {
  sycl_detail::atomic<sycl::memory_scope::system>(at).store(value, sycl::memory_order::release);
}

TELPHER_DEVICE std::uint64_t load_relaxed_system(const std::uint64_t* at) {
  return sycl_detail::atomic<sycl::memory_scope::system>(const_cast<std::uint64_t*>(at)).load();
}

TELPHER_DEVICE void store_relaxed_system(std::uint64_t* at, std::uint64_t value) {
  sycl_detail::atomic<sycl::memory_scope::system>(at).store(value);
}
TELPHER_DEVICE void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  sycl_detail::atomic<sycl::memory_scope::system>(at).store(value);
}

TELPHER_DEVICE void store_published(std::uint64_t* at, std::uint64_t value) {
  store_release_system(at, value);
}
TELPHER_DEVICE void store_published(std::uint32_t* at, std::uint32_t value) {
  store_release_system(at, value);
}

TELPHER_DEVICE std::uint32_t fetch_add_device(std::uint32_t* at, std::uint32_t value) {
  return sycl_detail::atomic<sycl::memory_scope::device>(at).fetch_add(value,
                                                                       sycl::memory_order::acq_rel);
}

TELPHER_DEVICE std::uint32_t exchange_if_device(std::uint32_t* at, std::uint32_t expected,
                                                std::uint32_t value) {
  sycl_detail::atomic<sycl::memory_scope::device>(at).compare_exchange_strong(
      expected, value, sycl::memory_order::acq_rel, sycl::memory_order::acquire);
  return expected;
}

#else

// A block is one thread. The acquiring loads and releasing stores around a fence give all the order
// that is needed.
TELPHER_DEVICE void fence_system() {}

TELPHER_DEVICE std::uint32_t load_acquire_system(const std::uint32_t* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

TELPHER_DEVICE void store_release_system(std::uint32_t* at, std::uint32_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

TELPHER_DEVICE std::uint64_t load_acquire_system(const std::uint64_t* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

TELPHER_DEVICE void store_release_system(std::uint64_t* at, std::uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}

TELPHER_DEVICE std::uint64_t load_relaxed_system(const std::uint64_t* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

TELPHER_DEVICE void store_relaxed_system(std::uint64_t* at, std::uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}
TELPHER_DEVICE void store_relaxed_system(std::uint32_t* at, std::uint32_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

TELPHER_DEVICE void store_published(std::uint64_t* at, std::uint64_t value) {
  store_release_system(at, value);
}
TELPHER_DEVICE void store_published(std::uint32_t* at, std::uint32_t value) {
  store_release_system(at, value);
}

TELPHER_DEVICE std::uint32_t fetch_add_device(std::uint32_t* at, std::uint32_t value) {
  return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL);
}

TELPHER_DEVICE void add_release_system(std::uint64_t* at, std::uint64_t value) {
  __atomic_fetch_add(at, value, __ATOMIC_RELEASE);
}

TELPHER_DEVICE std::uint32_t exchange_if_device(std::uint32_t* at, std::uint32_t expected,
                                                std::uint32_t value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return expected;
}

// The high word is accessed before and after the low one: whoever sees the high word also sees what
// was written before it. A high word of 0 marks a pair that is being stored.
TELPHER_DEVICE word_pair load_pair_system(const void* at) {
  const auto* words = static_cast<const std::uint64_t*>(at);
  const std::uint64_t high = __atomic_load_n(words + 1, __ATOMIC_ACQUIRE);
  const std::uint64_t low = __atomic_load_n(words, __ATOMIC_ACQUIRE);
  return {low, __atomic_load_n(words + 1, __ATOMIC_RELAXED) == high ? high : 0};
}
TELPHER_DEVICE void store_pair_system(void* at, word_pair pair) {
  auto* words = static_cast<std::uint64_t*>(at);
  __atomic_store_n(words + 1, 0, __ATOMIC_RELAXED);
  __atomic_store_n(words, pair.low, __ATOMIC_RELEASE);
  __atomic_store_n(words + 1, pair.high, __ATOMIC_RELEASE);
}

#endif

// --- within one block's shared memory; relaxed ---

/// Sets bits of a word that several work items of the block write.
TELPHER_DEVICE void or_shared(std::uint32_t* at, std::uint32_t value) {
#if defined(TELPHER_LANGUAGE_CPU)
  __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
#elif defined(TELPHER_LANGUAGE_SYCL)
  sycl_detail::shared_atomic(at).fetch_or(value);
#else
  atomicOr(at, value);
#endif
}

/// Raises a word to at least `value`; atomic among the device's blocks.
TELPHER_DEVICE void raise_device(std::uint32_t* at, std::uint32_t value) {
#if defined(TELPHER_LANGUAGE_CPU)
  std::uint32_t seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (seen < value &&
         !__atomic_compare_exchange_n(at, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
#elif defined(TELPHER_LANGUAGE_SYCL)
  sycl_detail::atomic<sycl::memory_scope::device>(at).fetch_max(value);
#else
  atomicMax(at, value);
#endif
}
TELPHER_DEVICE void raise_shared(std::uint32_t* at, std::uint32_t value) {
#if defined(TELPHER_LANGUAGE_SYCL)
  sycl_detail::shared_atomic(at).fetch_max(value);
#else
  raise_device(at, value);
#endif
}

#if !defined(TELPHER_LANGUAGE_CUDA)
struct fresh_loads : plain_loads {
  TELPHER_DEVICE static void begin() { fence_system(); }
};
#endif

}  // namespace telpher::kernel
