// SPDX-License-Identifier: BSD-3-Clause
// The language a kernel body is compiled in. This is the only file that tests compiler macros: a
// body is a plain template whose first parameter is the execution view `work`, and reads the same
// in CUDA, HIP, SYCL and on a CPU. On the CPU a block is one work item (id 0 of size 1) and blocks
// run one after the other; so a body must not let one block wait for another block of its own
// launch.
//
// Addresses given to a kernel go through resolve() before they are used: the emulated device's
// addresses cannot be dereferenced, its bytes lie at a fixed distance. On a GPU resolve() is
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(TELPHER_COMPILE_SYCL) && defined(TELPHER_DEVICE_PASS)
// What kernels use: SYCL's run-time compiler has no host pass, and reads this in half the time.
#include <sycl/atomic_fence.hpp>
#include <sycl/atomic_ref.hpp>
#include <sycl/ext/oneapi/free_function_queries.hpp>
#include <sycl/ext/oneapi/kernel_properties/properties.hpp>
#include <sycl/ext/oneapi/work_group_static.hpp>
#include <sycl/group_barrier.hpp>
#include <sycl/nd_item.hpp>
#include <sycl/vector.hpp>
#define TELPHER_LANGUAGE_SYCL 1
#elif defined(TELPHER_COMPILE_SYCL)
#include <sycl/sycl.hpp>
#define TELPHER_LANGUAGE_SYCL 1
#elif defined(__HIPCC__) || defined(__HIP__)
#include <hip/hip_runtime.h>
#define TELPHER_LANGUAGE_HIP 1
#elif defined(__CUDACC__)
#define TELPHER_LANGUAGE_CUDA 1
#else
#define TELPHER_LANGUAGE_CPU 1
#include <sched.h>
#include <time.h>
#endif

// TELPHER_SHARED(type, name, [extent]): a variable that the work items of a block share.
#if defined(TELPHER_LANGUAGE_CPU)
#define TELPHER_DEVICE inline
#define TELPHER_BOTH inline         // for the host and for kernels
#define TELPHER_DEVICE_CALL inline  // a function that is not copied into each kernel
// Where a block's variables lie is its view's to say: `w` of type W, in every body.
#define TELPHER_SHARED(type, name, ...)                                 \
  typename W::template shared<type __VA_ARGS__> name##_of_the_block(w); \
  auto& name = name##_of_the_block.value
#define TELPHER_UNROLL
#define TELPHER_UNROLL_BY(count)
#elif defined(TELPHER_LANGUAGE_SYCL)
#define TELPHER_DEVICE inline
#define TELPHER_BOTH inline
#define TELPHER_DEVICE_CALL inline
#define TELPHER_SHARED(type, name, ...)                                                     \
  sycl::ext::oneapi::experimental::work_group_static<type __VA_ARGS__> name##_of_the_block; \
  type(&name) __VA_ARGS__ = name##_of_the_block
#define TELPHER_UNROLL
#define TELPHER_UNROLL_BY(count)
#else
#define TELPHER_DEVICE __device__ __forceinline__
#define TELPHER_BOTH __host__ __device__ __forceinline__
#define TELPHER_DEVICE_CALL static __device__ __noinline__
#define TELPHER_SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define TELPHER_UNROLL _Pragma("unroll")  // where an array is to stay in registers
#define TELPHER_PRAGMA(text) _Pragma(#text)
#define TELPHER_UNROLL_BY(count) TELPHER_PRAGMA(unroll count)
#endif

namespace telpher::kernel {

#if defined(TELPHER_LANGUAGE_CPU)

/// Where the emulated device's addresses lie in this process, and how far their bytes are.
struct device_window {
  std::uintptr_t base = 0;
  std::uintptr_t bytes = 0;
  std::uintptr_t distance = 0;
};
inline device_window emulated_window;  // set once, before the first kernel or copy

template <class T>
inline T* resolve(T* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const device_window& w = emulated_window;
  return address - w.base < w.bytes ? reinterpret_cast<T*>(address + w.distance) : pointer;
}

/// The view of one work item: which of how many it is, in its block and its grid.
class work {
 public:
  static constexpr unsigned command_readers = 1;  // work items that read a linger_command together
  static constexpr unsigned program_readers = 1;  // and an exchange_command

  /// A block is one work item: its automatic variables are the block's.
  template <class T>
  struct shared {
    explicit shared(const work&) {}
    T value;
  };

  work(unsigned block, unsigned blocks) : block_(block), blocks_(blocks) {}
  unsigned id() const { return 0; }
  unsigned size() const { return 1; }
  unsigned block() const { return block_; }
  unsigned blocks() const { return blocks_; }
  /// All work items of the block meet here; what they wrote before is seen by the block after it.
  void barrier() const {}
  /// As barrier(); true where `mine` holds for all of the block.
  bool all(bool mine) const { return mine; }
  /// As barrier(), and after it a store of work item 0 publishes to the system what the block
  /// wrote.
  void publish() const {}  // that store releases, and the block is one thread
  /// True where `mine` holds for the first `readers` work items, which all call it.
  bool readers_agree(unsigned, bool mine) const { return mine; }
  /// What work item 0 has, for all program readers.
  std::uint64_t of_first(std::uint64_t value) const { return value; }

 private:
  unsigned block_;
  unsigned blocks_;
};

/// A steady clock.
inline std::uint64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// Between two polls: on a CPU the thread polled for may need this core.
inline void relax() {
  sched_yield();
}

#else

template <class T>
TELPHER_DEVICE T* resolve(T* pointer) {
  return pointer;
}

#if defined(TELPHER_LANGUAGE_SYCL)

/// A free-function kernel's place in its launch of one dimension.
class work {
 public:
  static constexpr unsigned command_readers = 1;
  static constexpr unsigned program_readers = 1;

  unsigned id() const { return static_cast<unsigned>(item_.get_local_id(0)); }
  unsigned size() const { return static_cast<unsigned>(item_.get_local_range(0)); }
  unsigned block() const { return static_cast<unsigned>(item_.get_group(0)); }
  unsigned blocks() const { return static_cast<unsigned>(item_.get_group_range(0)); }
  void barrier() const { sycl::group_barrier(item_.get_group()); }
  // SYCL orders other work items' writes by their own fences only.
  void publish() const {
    sycl::atomic_fence(sycl::memory_order::acq_rel, sycl::memory_scope::system);
    sycl::group_barrier(item_.get_group());
  }
  bool readers_agree(unsigned, bool mine) const { return mine; }
  std::uint64_t of_first(std::uint64_t value) const { return value; }

 private:
  sycl::nd_item<1> item_ = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
};

// SYCL's clock has no unit that a kernel could know, and no promise that work items run while the
// host or another device waits for them. What needs the clock (the lingering copier) is left out of
// SYCL's kernels; programs of the exchange kernel have no step there that waits.

// Such a step alone would use these.
inline void relax() {}
inline std::uint64_t now_ns() {
  return 0;
}

#else  // CUDA and HIP share the built-ins

class work {
 public:
  static constexpr unsigned command_readers = 2;
  static constexpr unsigned program_readers = 32;

  TELPHER_DEVICE unsigned id() const { return threadIdx.x; }
  TELPHER_DEVICE unsigned size() const { return blockDim.x; }
  TELPHER_DEVICE unsigned block() const { return blockIdx.x; }
  TELPHER_DEVICE unsigned blocks() const { return gridDim.x; }
  TELPHER_DEVICE void barrier() const { __syncthreads(); }
  TELPHER_DEVICE bool all(bool mine) const { return __syncthreads_and(mine) != 0; }

#if defined(TELPHER_LANGUAGE_CUDA)
  // The barrier orders the block's writes before work item 0's fence, and a fence of system scope
  // carries them along (the memory model's causality order is transitive).
  TELPHER_DEVICE void publish() const {
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
  TELPHER_DEVICE bool readers_agree(unsigned readers, bool mine) const {
    return __all_sync(~0u >> (32 - readers), mine) != 0;
  }
  TELPHER_DEVICE std::uint64_t of_first(std::uint64_t value) const {
    return __shfl_sync(~0u, static_cast<unsigned long long>(value), 0);
  }
#else
  // A barrier of AMD's does not wait for other wavefronts' stores to leave the compute unit.
  TELPHER_DEVICE void publish() const {
    __threadfence_system();
    __syncthreads();
  }
  TELPHER_DEVICE bool readers_agree(unsigned, bool mine) const {
    return __all(mine) != 0;
  }
  TELPHER_DEVICE std::uint64_t of_first(std::uint64_t value) const {
    return __shfl(static_cast<unsigned long long>(value), 0);
  }
#endif
};

TELPHER_DEVICE std::uint64_t now_ns() {
#if defined(TELPHER_LANGUAGE_CUDA)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
#elif defined(__HIP_DEVICE_COMPILE__)
  return __builtin_amdgcn_s_memrealtime() * 10;  // 100 MHz on gfx9
#else
  return 0;
#endif
}

TELPHER_DEVICE void relax() {}  // a read over the bus is pause enough

#endif  // SYCL, or CUDA and HIP
#endif  // CPU, or a GPU

}  // namespace telpher::kernel
