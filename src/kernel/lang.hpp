// SPDX-License-Identifier: BSD-3-Clause
// The language that a kernel body is compiled in. Only this file tests compiler macros. A body is a
// plain template whose first parameter is the execution view `work`; it is the same text in CUDA,
// HIP, SYCL and on a CPU. On a CPU a block is one work item (id 0 of size 1), and blocks run one
// after the other. So a block must not wait for another block of its own launch.
//
// Addresses passed to a kernel must go through resolve() before they are used. Addresses of the
// emulated device cannot be dereferenced; its bytes lie at a fixed distance. On a GPU resolve()
// does nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(TELPHER_COMPILE_SYCL) && defined(TELPHER_DEVICE_PASS)
// Only the headers that kernels need: SYCL's run-time compiler has no host pass, and this halves
// its time.
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

#include "base/clock.hpp"
#endif

// TELPHER_SHARED(type, name, [extent]): a variable shared by the work items of a block.
#if defined(TELPHER_LANGUAGE_CPU)
#define TELPHER_DEVICE inline
#define TELPHER_BOTH inline         // for the host and for kernels
#define TELPHER_DEVICE_CALL inline  // a function that is not inlined into each kernel
// The view decides where a block's variables lie: `w` of type W in every body.
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
#define TELPHER_UNROLL _Pragma("unroll")  // for loops over arrays that must stay in registers
#define TELPHER_PRAGMA(text) _Pragma(#text)
#define TELPHER_UNROLL_BY(count) TELPHER_PRAGMA(unroll count)
#endif

namespace telpher::kernel {

#if defined(TELPHER_LANGUAGE_CPU)

/// Where the emulated device's addresses lie in this process, and the distance to their bytes.
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

/// The view of one work item: its number and the number of all in its block and its grid.
class work {
 public:
  static constexpr unsigned command_readers = 1;  // work items that read a linger_command together
  static constexpr unsigned program_readers = 1;  // and an exchange_command

  /// A block is one work item, so the block's shared variables are automatic ones.
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
  /// Barrier of the block's work items; afterwards they see each other's earlier writes.
  void barrier() const {}
  /// barrier(); returns true if `mine` is true in all work items of the block.
  bool all(bool mine) const { return mine; }
  /// barrier() and a fence: a store that work item 0 makes afterwards publishes what the block
  /// wrote to the whole system.
  void publish() const {}  // the store releases, and the block is one thread
  /// publish() of what the block wrote to its own device's memory.
  void publish_near() const {}
  /// barrier(); afterwards a release of system scope by any work item covers what the block wrote.
  void settle() const {}
  /// True if `mine` is true in the first `readers` work items, which all call this.
  bool readers_agree(unsigned, bool mine) const { return mine; }
  /// Gives all program readers work item 0's value.
  std::uint64_t of_first(std::uint64_t value) const { return value; }

 private:
  unsigned block_;
  unsigned blocks_;
};

/// A monotonic clock.
using telpher::now_ns;

/// Called between two polls. On a CPU the thread that is waited for may need this core.
inline void relax() {
  sched_yield();
}

#else

template <class T>
TELPHER_DEVICE T* resolve(T* pointer) {
  return pointer;
}

#if defined(TELPHER_LANGUAGE_SYCL)

/// The view in a free-function kernel, launched in one dimension.
class work {
 public:
  static constexpr unsigned command_readers = 1;
  static constexpr unsigned program_readers = 1;

  unsigned id() const { return static_cast<unsigned>(item_.get_local_id(0)); }
  unsigned size() const { return static_cast<unsigned>(item_.get_local_range(0)); }
  unsigned block() const { return static_cast<unsigned>(item_.get_group(0)); }
  unsigned blocks() const { return static_cast<unsigned>(item_.get_group_range(0)); }
  void barrier() const { sycl::group_barrier(item_.get_group()); }
  // In SYCL a fence only orders the writes of the work item that executes it.
  void publish() const {
    sycl::atomic_fence(sycl::memory_order::acq_rel, sycl::memory_scope::system);
    sycl::group_barrier(item_.get_group());
  }
  void publish_near() const { publish(); }
  void settle() const { publish(); }
  bool readers_agree(unsigned, bool mine) const { return mine; }
  std::uint64_t of_first(std::uint64_t value) const { return value; }

 private:
  sycl::nd_item<1> item_ = sycl::ext::oneapi::this_work_item::get_nd_item<1>();
};

// SYCL's clock has no known unit in a kernel, and SYCL does not guarantee that work items run while
// the host or another device waits for them. So kernels that need the clock (the lingering copier)
// are left out, and programs of the exchange kernel contain no waiting step.

// Only a waiting step would use these.
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
  // The barrier orders the block's writes before work item 0's fence, or before any one's release.
  // Being of system scope it covers them, because the memory model's causality order is transitive.
  TELPHER_DEVICE void publish() const {
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("fence.acq_rel.sys;" ::: "memory");
  }
  // All that reads a device's memory goes through the device's L2 cache. What is visible in the
  // device is there. The fence of system scope takes 0.35 us more (bench/mailbox.cu, H200).
  TELPHER_DEVICE void publish_near() const {
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  }
  TELPHER_DEVICE void settle() const {
    __syncthreads();
  }
  TELPHER_DEVICE bool readers_agree(unsigned readers, bool mine) const {
    return __all_sync(~0u >> (32 - readers), mine) != 0;
  }
  TELPHER_DEVICE std::uint64_t of_first(std::uint64_t value) const {
    return __shfl_sync(~0u, static_cast<unsigned long long>(value), 0);
  }
  // Exists in CUDA only, for programs of lines (exchange_lines.hpp); all items of a warp call them.
  TELPHER_DEVICE bool any_of_warp(bool mine) const {
    return __any_sync(~0u, mine) != 0;
  }
  TELPHER_DEVICE void join_warp() const {
    __syncwarp();
  }
#else
  // On AMD a barrier does not wait until other wavefronts' stores have left the compute unit.
  TELPHER_DEVICE void publish() const {
    __threadfence_system();
    __syncthreads();
  }
  TELPHER_DEVICE void publish_near() const {
    publish();
  }
  TELPHER_DEVICE void settle() const {
    publish();
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

TELPHER_DEVICE void relax() {}  // a load over the bus takes long enough

#endif  // SYCL, or CUDA and HIP
#endif  // CPU, or a GPU

// Programmatic dependent launch, in CUDA: the device may begin a launch while the one before it in
// its stream still runs (inst/kernels.cu says when). Each kernel begins with
// await_previous_launch(), after which it sees all that the previous launch has written, as in
// order. A kernel calls admit_next_launch() where little work remains as a rule: the next launch
// keeps processors while it waits, so it should not wait long.
#if defined(TELPHER_LANGUAGE_CUDA) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
TELPHER_DEVICE void await_previous_launch() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
TELPHER_DEVICE void admit_next_launch() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
TELPHER_DEVICE void await_previous_launch() {}
TELPHER_DEVICE void admit_next_launch() {}
#endif

}  // namespace telpher::kernel
