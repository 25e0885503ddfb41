// SPDX-License-Identifier: BSD-3-Clause
// What a small copy by a kernel that stays on the device costs from the host's store of the command
// to the host's load of its end (path/linger.hpp), and what each part of it costs: how many warps
// look for the command in turn, how the command is acquired and the copy published, how many
// threads take part, and where the source is. The last table pushes the bytes instead: a kernel at
// the sender stores them in flagged words at the receiver, whose kernel takes them from there.
//
//   nvcc -O2 -std=c++20 -arch=native -o mailbox bench/mailbox.cu && ./mailbox
//
// One process; with two devices the source is on the second one. Medians of 2000 commands, us.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "checked.cuh"

namespace {

using word = unsigned long long;
using clock_type = std::chrono::steady_clock;
constexpr unsigned depth = 64, last_command = 0xffffffff;
constexpr int commands = 2000, warm = 200;

// --- the device's side ---

enum class acquire { fence, load, nothing };
enum class publish { fence_system, release, fence_device, nothing };

/// The source with the number, and the target with the number and the bytes.
struct alignas(32) command {
  word from, number;
  word to, bytes_and_number;
};

struct place {
  command* mailbox;  // pinned
  unsigned* done;    // pinned
};

template <acquire A>
__device__ ulonglong2 load_pair(const void* at) {
  ulonglong2 v;
  if constexpr (A == acquire::load) {
    // There is no acquire of 16 bytes: the number's word is read so, and the other one after it.
    asm volatile("ld.acquire.sys.u64 %0, [%1];"
                 : "=l"(v.y)
                 : "l"(static_cast<const word*>(at) + 1)
                 : "memory");
    asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(v.x) : "l"(at) : "memory");
  } else {
    asm volatile("ld.volatile.v2.u64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(at) : "memory");
  }
  return v;
}

__device__ void copy(char* to, const char* from, unsigned bytes, unsigned id, unsigned size) {
  for (unsigned i = id * 8; i < bytes; i += size * 8)
    *reinterpret_cast<word*>(to + i) = *reinterpret_cast<const volatile word*>(from + i);
}

template <publish P>
__device__ void store_done(unsigned* done, unsigned number) {
  if constexpr (P == publish::release) {
    asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(done), "r"(number) : "memory");
    return;
  }
  if constexpr (P == publish::fence_system) asm volatile("fence.acq_rel.sys;" ::: "memory");
  if constexpr (P == publish::fence_device) asm volatile("fence.acq_rel.gpu;" ::: "memory");
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(done), "r"(number) : "memory");
}

/// As the library does it: the first two threads look, all copy.
template <acquire A, publish P>
__global__ void by_block(place p) {
  __shared__ ulonglong2 half[2];
  for (unsigned n = 1;; ++n) {
    const command* const slot = p.mailbox + n % depth;
    if (threadIdx.x < 2) {
      bool mine;
      do {
        half[threadIdx.x] = load_pair<A>(&slot->from + 2 * threadIdx.x);
        mine = static_cast<unsigned>(half[threadIdx.x].y >> 32) == n;
      } while (!__all_sync(3, mine));
      if constexpr (A == acquire::fence) asm volatile("fence.acq_rel.sys;" ::: "memory");
    }
    __syncthreads();
    const auto bytes = static_cast<unsigned>(half[1].y);
    if (bytes == last_command) return;
    copy(reinterpret_cast<char*>(half[1].x), reinterpret_cast<const char*>(half[0].x), bytes,
         threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0) store_done<P>(p.done, n);
  }
}

/// Several warps look for the same command, each when it can; the one that finds it copies alone.
template <acquire A, publish P>
__global__ void by_warps(place p) {
  __shared__ unsigned taken;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x == 0) taken = 0;
  __syncthreads();
  __nanosleep(warp * 1200 / warps);
  for (;;) {
    const unsigned n = *static_cast<volatile unsigned*>(&taken) + 1;
    const command* const slot = p.mailbox + n % depth;
    const ulonglong2 half = load_pair<A>(&slot->from + 2 * (lane & 1));
    if (!__all_sync(~0u, static_cast<unsigned>(half.y >> 32) == n)) continue;
    const auto bytes = static_cast<unsigned>(__shfl_sync(~0u, half.y, 1));
    if (bytes == last_command) return;
    unsigned won = 0;
    if (lane == 0) won = atomicCAS(&taken, n - 1, n) == n - 1;
    if (!__shfl_sync(~0u, won, 0)) continue;
    if constexpr (A == acquire::fence) asm volatile("fence.acq_rel.sys;" ::: "memory");
    copy(reinterpret_cast<char*>(__shfl_sync(~0u, half.x, 1)),
         reinterpret_cast<const char*>(__shfl_sync(~0u, half.x, 0)), bytes, lane, 32);
    __syncwarp();
    if (lane == 0) store_done<P>(p.done, n);
  }
}

/// By one warp; each lane gets one of the halves.
__device__ ulonglong2 await_command(const place& p, unsigned n) {
  const command* const slot = p.mailbox + n % depth;
  ulonglong2 half;
  do half = load_pair<acquire::nothing>(&slot->from + 2 * (threadIdx.x & 1));
  while (!__all_sync(~0u, static_cast<unsigned>(half.y >> 32) == n));
  return half;
}

/// The sender's kernel: 4 bytes of data and a mark in each word, at the receiver.
__global__ void pushes(place p) {
  const unsigned lane = threadIdx.x;
  for (unsigned n = 1;; ++n) {
    const ulonglong2 half = await_command(p, n);
    const auto bytes = static_cast<unsigned>(__shfl_sync(~0u, half.y, 1));
    if (bytes == last_command) return;
    auto* const to = reinterpret_cast<word*>(__shfl_sync(~0u, half.x, 1));
    auto* const from = reinterpret_cast<const volatile unsigned*>(__shfl_sync(~0u, half.x, 0));
    for (unsigned i = lane; i < bytes / 4; i += 32)
      asm volatile("st.relaxed.sys.u64 [%0], %1;" ::"l"(to + i), "l"(word{n} << 32 | from[i])
                   : "memory");
    __syncwarp();
    if (lane == 0) store_done<publish::nothing>(p.done, n);
  }
}

/// The receiver's: waits for a command as by_warps does, then for the marks.
template <publish P>
__global__ void takes(place p) {
  const unsigned lane = threadIdx.x;
  for (unsigned n = 1;; ++n) {
    const ulonglong2 half = await_command(p, n);
    const auto bytes = static_cast<unsigned>(__shfl_sync(~0u, half.y, 1));
    if (bytes == last_command) return;
    auto* const to = reinterpret_cast<unsigned*>(__shfl_sync(~0u, half.x, 1));
    auto* const inbox = reinterpret_cast<const word*>(__shfl_sync(~0u, half.x, 0));
    for (unsigned i = lane; i < bytes / 4; i += 32) {
      word w;
      do asm volatile("ld.relaxed.sys.u64 %0, [%1];" : "=l"(w) : "l"(inbox + i) : "memory");
      while (w >> 32 != n);
      to[i] = static_cast<unsigned>(w);
    }
    __syncwarp();
    if (lane == 0) store_done<P>(p.done, n);
  }
}

// --- the host's side ---

class worker {
 public:
  explicit worker(int device) : device_(device) {
    CHECKED(cudaSetDevice(device));
    CHECKED(cudaHostAlloc(&memory_, 2 * sizeof(command) * depth, cudaHostAllocPortable));
    CHECKED(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  template <class Kernel>
  void start(Kernel kernel, int threads) {
    std::memset(memory_, 0, 2 * sizeof(command) * depth);
    next_ = 0;
    CHECKED(cudaSetDevice(device_));
    kernel<<<1, threads, 0, stream_>>>(at());
    CHECKED(cudaGetLastError());
  }
  void give(void* to, const void* from, unsigned bytes) {
    const word mark = word{++next_} << 32;
    auto* const w = reinterpret_cast<word*>(at().mailbox + next_ % depth);
    __atomic_store_n(w + 0, reinterpret_cast<word>(from), __ATOMIC_RELAXED);
    __atomic_store_n(w + 1, mark, __ATOMIC_RELEASE);
    __atomic_store_n(w + 2, reinterpret_cast<word>(to), __ATOMIC_RELAXED);
    __atomic_store_n(w + 3, mark | bytes, __ATOMIC_RELEASE);
  }
  void await() const {
    while (__atomic_load_n(at().done, __ATOMIC_ACQUIRE) != next_) {
    }
  }
  void stop() {
    give(nullptr, nullptr, last_command);
    CHECKED(cudaStreamSynchronize(stream_));
  }

 private:
  place at() const {
    auto* const base = static_cast<command*>(memory_);
    return {base, reinterpret_cast<unsigned*>(base + depth)};
  }
  int device_;
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  unsigned next_ = 0;
};

char *target, *near_source, *far_source, *inbox;
int devices = 0;

void* device_memory(int device) {
  void* at;
  CHECKED(cudaSetDevice(device));
  CHECKED(cudaMalloc(&at, 1 << 20));
  CHECKED(cudaMemset(at, 1, 1 << 20));
  CHECKED(cudaDeviceSynchronize());
  return at;
}

template <class Once>
double median_us(Once once) {
  std::vector<double> all;
  for (int i = 0; i < commands; ++i) {
    const auto begin = clock_type::now();
    once();
    const auto end = clock_type::now();
    if (i >= warm) all.push_back(std::chrono::duration<double, std::micro>(end - begin).count());
    // Not in step with the device's looks.
    const auto until = end + std::chrono::nanoseconds(500 + i % 37 * 53);
    while (clock_type::now() < until) {
    }
  }
  std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
  return all[all.size() / 2];
}

template <class Kernel>
void row(worker& w, const char* name, Kernel kernel, int threads) {
  std::printf("%-52s %4d", name, threads);
  for (const unsigned bytes : {8u, 1024u, 8192u})
    for (char* from : {near_source, far_source}) {
      w.start(kernel, threads);
      std::printf(" %6.2f", median_us([&] {
                    w.give(target, from, bytes);
                    w.await();
                  }));
      w.stop();
    }
  std::printf("\n");
}

void push_row(worker& sender, worker& receiver, double later_us) {
  const auto later_ns = static_cast<int>(later_us * 1e3);
  std::printf("%-44s %4.1f us later     ", "pushed; the receiver's command", later_us);
  for (const unsigned bytes : {8u, 1024u, 8192u}) {
    sender.start(pushes, 32);
    receiver.start(takes<publish::fence_system>, 32);
    std::printf(" %13.2f", median_us([&] {
                  const auto until = clock_type::now() + std::chrono::nanoseconds(later_ns);
                  sender.give(inbox, far_source, bytes);
                  while (clock_type::now() < until) {
                  }
                  receiver.give(target, inbox, bytes);
                  receiver.await();
                }) - later_us);
    sender.await();
    sender.stop();
    receiver.stop();
    CHECKED(cudaSetDevice(0));
    CHECKED(cudaMemset(inbox, 0, 1 << 20));
    CHECKED(cudaDeviceSynchronize());
  }
  std::printf("\n");
}

}  // namespace

int main() {
  CHECKED(cudaGetDeviceCount(&devices));
  const int other = devices > 1 ? 1 : 0;
  if (other == 1) {
    CHECKED(cudaSetDevice(0));
    CHECKED(cudaDeviceEnablePeerAccess(1, 0));
    CHECKED(cudaSetDevice(1));
    CHECKED(cudaDeviceEnablePeerAccess(0, 0));
  }
  target = static_cast<char*>(device_memory(0));
  near_source = static_cast<char*>(device_memory(0));
  far_source = static_cast<char*>(device_memory(other));
  inbox = static_cast<char*>(device_memory(0));
  CHECKED(cudaMemset(inbox, 0, 1 << 20));
  worker w(0), sender(other);
  std::printf("us from the command's store to the load of its end; %d devices\n", devices);
  std::printf("%-52s %4s %13s %13s %13s\n", "", "", "8 B", "1 KB", "8 KB");
  std::printf("%-46s   threads   near   far   near   far   near   far\n", "");
  using enum acquire;
  using P = publish;
  row(w, "one block; fence; fence (as it is)", by_block<fence, P::fence_system>, 1024);
  row(w, "one block; fence; fence", by_block<fence, P::fence_system>, 256);
  row(w, "one block; fence; fence", by_block<fence, P::fence_system>, 32);
  row(w, "one block; load; fence", by_block<load, P::fence_system>, 32);
  row(w, "one block; nothing; fence", by_block<nothing, P::fence_system>, 32);
  row(w, "one block; nothing; release", by_block<nothing, P::release>, 32);
  row(w, "one block; nothing; fence of the device", by_block<nothing, P::fence_device>, 32);
  row(w, "one block; nothing; nothing", by_block<nothing, P::nothing>, 32);
  for (const int threads : {32, 64, 96, 128})
    row(w, "each warp; fence; fence", by_warps<fence, P::fence_system>, threads);
  for (const int threads : {64, 128})
    row(w, "each warp; nothing; fence of the device", by_warps<nothing, P::fence_device>, threads);
  for (const double later : {0.0, 0.5, 1.0, 1.5, 2.0}) push_row(sender, w, later);
}
