/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device_lang.h: what differs between CUDA, HIP and the emulated device, for device.h, which
 * includes it: how functions for kernels are declared, a thread's place in its launch, ordered
 * accesses of system scope, and copies. Programs use the names that begin with telpher_ and
 * TELPHER_; namespace telpher_device is for device.h. The file needs nothing else of Telpher.
 * Telpher's own kernels have src/kernel/lang.hpp and atomics.hpp instead, which serve SYCL, too;
 * only src/kernel/partitions.hpp uses both.
 */
#ifndef TELPHER_DEVICE_LANG_H
#define TELPHER_DEVICE_LANG_H

#include <cstddef>
#include <cstdint>

#if defined(__HIP__) || (defined(__HIPCC__) && !defined(__CUDACC__))
#include <hip/hip_runtime.h>
#define TELPHER_DEVICE_HIP 1
#elif defined(__CUDACC__)
#include <cuda_runtime.h>
#define TELPHER_DEVICE_CUDA 1
#else
#include <sched.h>
#define TELPHER_DEVICE_EMULATED 1
#endif

/* Before a kernel, and before a function that kernels call. */
#if defined(TELPHER_DEVICE_EMULATED)
#define TELPHER_KERNEL_FUNCTION
#define TELPHER_DEVICE_FUNCTION inline
#else
#define TELPHER_KERNEL_FUNCTION __global__
#define TELPHER_DEVICE_FUNCTION __device__ inline
#endif

/* --- a thread's place in its launch: numbers from 0 on, whatever the shape of block and grid. On
 * the emulated device a block is one thread --- */

#if defined(TELPHER_DEVICE_EMULATED)

namespace telpher_device {
struct place {
  unsigned block = 0, blocks = 1;
};
inline place& here() {
  static thread_local place one;
  return one;
}
}  // namespace telpher_device

inline unsigned telpher_thread_number() { return 0; }
inline unsigned telpher_thread_count() { return 1; }
inline unsigned telpher_block_number() { return telpher_device::here().block; }
inline unsigned telpher_block_count() { return telpher_device::here().blocks; }
inline void telpher_block_barrier() {}

#else

__device__ inline unsigned telpher_thread_number() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
__device__ inline unsigned telpher_thread_count() { return blockDim.x * blockDim.y * blockDim.z; }
__device__ inline unsigned telpher_block_number() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}
__device__ inline unsigned telpher_block_count() { return gridDim.x * gridDim.y * gridDim.z; }
__device__ inline void telpher_block_barrier() { __syncthreads(); }

#endif

/* --- what differs between the languages; all of system scope --- */

namespace telpher_device {

#if defined(TELPHER_DEVICE_CUDA)
TELPHER_DEVICE_FUNCTION void fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
TELPHER_DEVICE_FUNCTION std::uint64_t load_acquire(const std::uint64_t* at) {
  std::uint64_t value;
  asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
  return value;
}
TELPHER_DEVICE_FUNCTION void store_release(std::uint64_t* at, std::uint64_t value) {
  asm volatile("st.release.sys.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
TELPHER_DEVICE_FUNCTION void add_release(std::uint64_t* at, std::uint64_t value) {
  asm volatile("red.release.sys.add.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
/* All threads of a block call end_block_writes before one of them releases for all. They call
 * begin_block_reads after one of them has acquired and a barrier has followed. A barrier is enough
 * in CUDA: the memory model's causality order is transitive, so it includes what the other threads
 * have written or seen. */
TELPHER_DEVICE_FUNCTION void end_block_writes() { __syncthreads(); }
TELPHER_DEVICE_FUNCTION void begin_block_reads() {}
TELPHER_DEVICE_FUNCTION void relax() {}
#elif defined(TELPHER_DEVICE_HIP)
TELPHER_DEVICE_FUNCTION void fence() { __threadfence_system(); }
TELPHER_DEVICE_FUNCTION std::uint64_t load_acquire(const std::uint64_t* at) {
  return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
TELPHER_DEVICE_FUNCTION void store_release(std::uint64_t* at, std::uint64_t value) {
  __hip_atomic_store(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
TELPHER_DEVICE_FUNCTION void add_release(std::uint64_t* at, std::uint64_t value) {
  __hip_atomic_fetch_add(at, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
/* On AMD a barrier alone is not enough: it does not wait until the stores of other wavefronts have
 * left the compute unit, and does not drop what they may still read from its cache. So every thread
 * fences. */
TELPHER_DEVICE_FUNCTION void end_block_writes() {
  __threadfence_system();
  __syncthreads();
}
TELPHER_DEVICE_FUNCTION void begin_block_reads() { __threadfence_system(); }
TELPHER_DEVICE_FUNCTION void relax() {}
#else
TELPHER_DEVICE_FUNCTION void fence() { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
TELPHER_DEVICE_FUNCTION std::uint64_t load_acquire(const std::uint64_t* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}
TELPHER_DEVICE_FUNCTION void store_release(std::uint64_t* at, std::uint64_t value) {
  __atomic_store_n(at, value, __ATOMIC_RELEASE);
}
TELPHER_DEVICE_FUNCTION void add_release(std::uint64_t* at, std::uint64_t value) {
  __atomic_fetch_add(at, value, __ATOMIC_RELEASE);
}
TELPHER_DEVICE_FUNCTION void end_block_writes() {}
TELPHER_DEVICE_FUNCTION void begin_block_reads() {}
/* The thread that is waited for may need this processor. */
TELPHER_DEVICE_FUNCTION void relax() { sched_yield(); }
#endif

/* Stores `wanted` if the word is `expected`, and says whether it did. Relaxed, at the scope of the
 * device: the order comes from other words (device_relay.h: `freed`, `ready`). */
TELPHER_DEVICE_FUNCTION bool compare_and_swap(std::uint64_t* at, std::uint64_t expected, std::uint64_t wanted) {
#if defined(TELPHER_DEVICE_EMULATED)
  return __atomic_compare_exchange_n(at, &expected, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#else
  static_assert(sizeof(unsigned long long) == sizeof *at, "a word has 64 bits");
  return atomicCAS(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(expected),
                   static_cast<unsigned long long>(wanted)) == expected;
#endif
}

/* Gives all threads of the block the value of thread 0. Begins and ends with a barrier. */
TELPHER_DEVICE_FUNCTION std::uint64_t broadcast_in_block(std::uint64_t value) {
#if !defined(TELPHER_DEVICE_EMULATED)
  __shared__ std::uint64_t word;
  if (telpher_thread_number() == 0) word = value;
  __syncthreads();
  value = word;
  __syncthreads();
#endif
  return value;
}

/* A barrier; true in all threads of the block if `mine` is true in at least one. */
TELPHER_DEVICE_FUNCTION bool any_of_block(bool mine) {
#if defined(TELPHER_DEVICE_EMULATED)
  return mine;
#else
  return __syncthreads_or(mine) != 0;
#endif
}

/* --- copies --- */

/* Units of a copy. They may alias whatever type the program has there. */
struct __attribute__((__may_alias__, __aligned__(16))) bytes16 {
  std::uint64_t low, high;
};
struct __attribute__((__may_alias__)) bytes8 {
  std::uint64_t word;
};
struct __attribute__((__may_alias__)) bytes4 {
  std::uint32_t word;
};

/* Worker `index` of `workers` copies its share of `count` units; four loads are under way before
 * the first store. The pointers are not __restrict__: the compiler might then load through a cache
 * that peers' stores do not reach. */
template <class V>
TELPHER_DEVICE_FUNCTION void copy_units(std::uint64_t index, std::uint64_t workers, V* to, const V* from,
                                        std::uint64_t count) {
  std::uint64_t unit = index;
  for (; unit + 3 * workers < count; unit += 4 * workers) {
    const V a = from[unit], b = from[unit + workers], c = from[unit + 2 * workers], d = from[unit + 3 * workers];
    to[unit] = a;
    to[unit + workers] = b;
    to[unit + 2 * workers] = c;
    to[unit + 3 * workers] = d;
  }
  for (; unit < count; unit += workers) to[unit] = from[unit];
}

/* Copies the bytes before the first aligned unit of `to`, then the units, then the rest. Both
 * addresses have the same offset from a multiple of sizeof(V). */
template <class V>
TELPHER_DEVICE_FUNCTION void copy_aligned_alike(std::uint64_t index, std::uint64_t workers, unsigned char* to,
                                                const unsigned char* from, std::uint64_t bytes) {
  std::uint64_t head = (sizeof(V) - reinterpret_cast<std::uintptr_t>(to) % sizeof(V)) % sizeof(V);
  if (head > bytes) head = bytes;
  const std::uint64_t units = (bytes - head) / sizeof(V), done = head + units * sizeof(V);
  copy_units(index, workers, to, from, head);
  copy_units(index, workers, reinterpret_cast<V*>(to + head), reinterpret_cast<const V*>(from + head), units);
  copy_units(index, workers, to + done, from + done, bytes - done);
}

/* In units of 16 bytes, or of the widest that both addresses allow. The ranges do not overlap. */
TELPHER_DEVICE_FUNCTION void copy_share(std::uint64_t index, std::uint64_t workers, void* to, const void* from,
                                        std::uint64_t bytes) {
  auto* const target = static_cast<unsigned char*>(to);
  const auto* const source = static_cast<const unsigned char*>(from);
  const auto apart = reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (apart % 16 == 0)
    copy_aligned_alike<bytes16>(index, workers, target, source, bytes);
  else if (apart % 8 == 0)
    copy_aligned_alike<bytes8>(index, workers, target, source, bytes);
  else if (apart % 4 == 0)
    copy_aligned_alike<bytes4>(index, workers, target, source, bytes);
  else
    copy_units(index, workers, target, source, bytes);
}
TELPHER_DEVICE_FUNCTION void copy(void* to, const void* from, std::uint64_t bytes) {
  copy_share(0, 1, to, from, bytes);
}
TELPHER_DEVICE_FUNCTION void copy_block(void* to, const void* from, std::uint64_t bytes) {
  copy_share(telpher_thread_number(), telpher_thread_count(), to, from, bytes);
}

}  // namespace telpher_device

#endif
