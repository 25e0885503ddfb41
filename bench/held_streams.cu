// SPDX-License-Identifier: BSD-3-Clause
// Which calls of CUDA wait while a stream of the program waits for a word in memory, by the driver's
// wait or by a kernel that looks at the word, and whether they keep other threads out of the driver meanwhile. docs/use/streams.md has the rules that
// follow; results/h100x1/held_streams.txt a run.
//
//   nvcc -O2 -std=c++20 -o held_streams bench/held_streams.cu -lcuda && ./held_streams
//
// For each call: a stream is made to wait, one thread makes the call, another one copies eight
// bytes in a non-blocking stream and waits for them, as Telpher's proxy does. The stream goes on
// after `hold`. "waits": the call had not returned by then. "others stand": the copy had not ended.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

namespace {

using clock_type = std::chrono::steady_clock;
constexpr auto hold = std::chrono::milliseconds(120);
constexpr std::size_t small = 4096, large = std::size_t{64} << 20;

void check(int code, const char* what) {
  if (code == 0) return;
  std::printf("%s: error %d\n", what, code);
  std::exit(1);
}
#define CHECKED(call) check(static_cast<int>(call), #call)

template <int N>
__global__ void kernel(int* p) {
  if (p) *p = N;
}

__global__ void look_until_set(const volatile unsigned* word) {
  while (*word == 0) {
  }
}

/// How a stream is made to wait for the word.
using make_wait = void (*)(cudaStream_t, unsigned*);
void wait_by_driver(cudaStream_t held, unsigned* word) {
  CHECKED(
      cuStreamWaitValue32(held, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_GEQ));
}
void wait_by_kernel(cudaStream_t held, unsigned* word) {
  look_until_set<<<1, 1, 0, held>>>(word);
  CHECKED(cudaGetLastError());
}

/// A call; what it needs is made before a stream waits and put away afterwards.
struct subject {
  const char* name;
  std::function<void()> prepare, call, clean;
};

void* at = nullptr;  // what the subject at hand works on
cudaStream_t stream_at = nullptr;
cudaEvent_t event_at = nullptr;
void *device_memory, *pinned_memory, *pageable_memory;
cudaIpcMemHandle_t foreign;
cudaGraphExec_t graph;

template <int N>
subject first_launch(const char* name, bool in_own) {
  return {name, [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
          [in_own] {
            kernel<N><<<1, 1, 0, in_own ? stream_at : nullptr>>>(nullptr);
            CHECKED(cudaGetLastError());
          },
          [] { CHECKED(cudaStreamDestroy(stream_at)); }};
}

subject copy_of(const char* name, void** to, void** from, std::size_t bytes) {
  return {name, [] {}, [=] { CHECKED(cudaMemcpy(*to, *from, bytes, cudaMemcpyDefault)); }, [] {}};
}

std::vector<subject> calls_for_memory() {
  const auto nothing = [] {};
  const auto free_device = [] { CHECKED(cudaFree(at)); };
  const auto free_pinned = [] { CHECKED(cudaFreeHost(at)); };
  return {
      {"cudaMalloc of 4 KB", nothing, [] { CHECKED(cudaMalloc(&at, small)); }, free_device},
      {"cudaMalloc of 64 MB", nothing, [] { CHECKED(cudaMalloc(&at, large)); }, free_device},
      {"cudaFree of 4 KB", [] { CHECKED(cudaMalloc(&at, small)); }, free_device, nothing},
      {"cudaFree of 64 MB", [] { CHECKED(cudaMalloc(&at, large)); }, free_device, nothing},
      {"cudaMallocAsync",
       [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
       [] { CHECKED(cudaMallocAsync(&at, small, stream_at)); },
       [] {
         CHECKED(cudaFreeAsync(at, stream_at));
         CHECKED(cudaStreamDestroy(stream_at));
       }},
      {"cudaHostAlloc of 4 KB", nothing, [] { CHECKED(cudaHostAlloc(&at, small, 0)); },
       free_pinned},
      {"cudaHostAlloc of 64 MB", nothing, [] { CHECKED(cudaHostAlloc(&at, large, 0)); },
       free_pinned},
      {"cudaFreeHost", [] { CHECKED(cudaHostAlloc(&at, small, 0)); }, free_pinned, nothing},
      {"cudaHostRegister of 64 MB", nothing,
       [] { CHECKED(cudaHostRegister(pageable_memory, large, 0)); },
       [] { CHECKED(cudaHostUnregister(pageable_memory)); }},
      {"cudaHostUnregister of 64 MB", [] { CHECKED(cudaHostRegister(pageable_memory, large, 0)); },
       [] { CHECKED(cudaHostUnregister(pageable_memory)); }, nothing},
      {"cudaIpcGetMemHandle", [] { CHECKED(cudaMalloc(&at, large)); },
       [] {
         cudaIpcMemHandle_t h;
         CHECKED(cudaIpcGetMemHandle(&h, at));
       },
       free_device},
      {"cudaIpcOpenMemHandle", nothing,
       [] { CHECKED(cudaIpcOpenMemHandle(&at, foreign, cudaIpcMemLazyEnablePeerAccess)); },
       [] { CHECKED(cudaIpcCloseMemHandle(at)); }},
      {"cudaIpcCloseMemHandle",
       [] { CHECKED(cudaIpcOpenMemHandle(&at, foreign, cudaIpcMemLazyEnablePeerAccess)); },
       [] { CHECKED(cudaIpcCloseMemHandle(at)); }, nothing},
  };
}

template <int N>
std::vector<subject> other_calls() {
  const auto nothing = [] {};
  return {
      {"cudaEventCreate", nothing,
       [] { CHECKED(cudaEventCreateWithFlags(&event_at, cudaEventDisableTiming)); },
       [] { CHECKED(cudaEventDestroy(event_at)); }},
      {"cudaStreamCreate", nothing,
       [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
       [] { CHECKED(cudaStreamDestroy(stream_at)); }},
      {"cudaStreamDestroy",
       [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
       [] { CHECKED(cudaStreamDestroy(stream_at)); }, nothing},
      first_launch<2 * N>("a kernel's first launch, in a stream", true),
      first_launch<2 * N + 1>("a kernel's first launch, default stream", false),
      {"cudaGraphLaunch",
       [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
       [] { CHECKED(cudaGraphLaunch(graph, stream_at)); },
       [] { CHECKED(cudaStreamDestroy(stream_at)); }},
      copy_of("cudaMemcpy to device, pageable, 8 B", &device_memory, &pageable_memory, 8),
      copy_of("cudaMemcpy to device, pageable, 1 MB", &device_memory, &pageable_memory, 1 << 20),
      copy_of("cudaMemcpy to device, pinned, 8 B", &device_memory, &pinned_memory, 8),
      copy_of("cudaMemcpy to host, pageable, 8 B", &pageable_memory, &device_memory, 8),
      copy_of("cudaMemcpy to host, pageable, 1 MB", &pageable_memory, &device_memory, 1 << 20),
      {"cudaMemset", nothing, [] { CHECKED(cudaMemset(device_memory, 1, small)); }, nothing},
      {"cudaMemcpyAsync, pageable, own stream",
       [] { CHECKED(cudaStreamCreateWithFlags(&stream_at, cudaStreamNonBlocking)); },
       [] {
         CHECKED(cudaMemcpyAsync(device_memory, pageable_memory, 1 << 20, cudaMemcpyDefault,
                                 stream_at));
       },
       [] { CHECKED(cudaStreamDestroy(stream_at)); }},
      {"cuPointerSetAttribute SYNC_MEMOPS", [] { CHECKED(cudaMalloc(&at, large)); },
       [] {
         const unsigned on = 1;
         CHECKED(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS,
                                       reinterpret_cast<CUdeviceptr>(at)));
       },
       [] { CHECKED(cudaFree(at)); }},
      {"cuCtxSetFlags SYNC_MEMOPS", nothing,
       [] {
         CHECKED(cudaSetDevice(0));
         CHECKED(cuCtxSetFlags(CU_CTX_SYNC_MEMOPS));
       },
       [] { CHECKED(cuCtxSetFlags(0)); }},
      {"cudaDeviceSynchronize", nothing, [] { CHECKED(cudaDeviceSynchronize()); }, nothing},
  };
}

struct proxy {
  cudaStream_t stream;
  cudaEvent_t done;
  void *from, *to;
  void step() const {
    CHECKED(cudaMemcpyAsync(to, from, 8, cudaMemcpyDefault, stream));
    CHECKED(cudaEventRecord(done, stream));
    while (cudaEventQuery(done) == cudaErrorNotReady) {
    }
  }
};

void judge(const subject& s, make_wait wait, cudaStream_t held, const proxy& p, unsigned* word) {
  s.prepare();
  CHECKED(cudaDeviceSynchronize());
  std::atomic_ref<unsigned> flag(*word);
  flag = 0;
  wait(held, word);
  std::atomic<bool> called = false, copied = false;
  std::thread caller([&] { s.call(), called = true; });
  std::thread other([&] {
    std::this_thread::sleep_for(hold / 4);
    p.step(), copied = true;
  });
  std::this_thread::sleep_for(hold);
  const bool waits = !called, stand = !copied;
  flag = 1;
  caller.join(), other.join();
  CHECKED(cudaDeviceSynchronize());
  s.clean();
  std::printf("  %-42s %-8s %s\n", s.name, waits ? "waits" : "-", stand ? "others stand" : "-");
}

/// A second process has memory for cudaIpcOpenMemHandle and ends when `until` is closed.
void lend(int answer, int until) {
  void* memory;
  cudaIpcMemHandle_t handle;
  CHECKED(cudaMalloc(&memory, large));
  CHECKED(cudaIpcGetMemHandle(&handle, memory));
  if (write(answer, &handle, sizeof handle) != sizeof handle) std::exit(1);
  char end;
  (void)!read(until, &end, 1);
  std::_Exit(0);
}

template <int N>
void all(const char* title, make_wait wait, cudaStream_t held, const proxy& p, unsigned* word) {
  std::printf("%s\n", title);
  for (const subject& s : calls_for_memory()) judge(s, wait, held, p, word);
  for (const subject& s : other_calls<N>()) judge(s, wait, held, p, word);
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int answer[2], until[2];
  if (pipe(answer) || pipe(until)) return 1;
  const pid_t lender = fork();
  if (lender == 0) close(until[1]), lend(answer[1], until[0]);
  close(answer[1]);
  if (read(answer[0], &foreign, sizeof foreign) != sizeof foreign) return 1;

  CHECKED(cudaMalloc(&device_memory, large));
  CHECKED(cudaHostAlloc(&pinned_memory, large, 0));
  pageable_memory = std::aligned_alloc(4096, large);
  CHECKED(cudaMemset(device_memory, 0, large));
  unsigned* word;
  CHECKED(cudaHostAlloc(reinterpret_cast<void**>(&word), small, 0));
  int least, most;
  CHECKED(cudaDeviceGetStreamPriorityRange(&least, &most));
  proxy p{};
  CHECKED(cudaStreamCreateWithPriority(&p.stream, cudaStreamNonBlocking, most));
  CHECKED(cudaEventCreateWithFlags(&p.done, cudaEventDisableTiming));
  CHECKED(cudaMalloc(&p.from, small));
  CHECKED(cudaMalloc(&p.to, small));
  p.step();
  cudaStream_t blocking, free_running;
  CHECKED(cudaStreamCreate(&blocking));
  CHECKED(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
  CHECKED(cudaStreamBeginCapture(free_running, cudaStreamCaptureModeThreadLocal));
  kernel<-1><<<1, 1, 0, free_running>>>(nullptr);
  cudaGraph_t g;
  CHECKED(cudaStreamEndCapture(free_running, &g));
  CHECKED(cudaGraphInstantiate(&graph, g, 0));

  *word = 1;
  wait_by_kernel(free_running, word);  // loads the kernel
  all<1>("while a non-blocking stream waits:", wait_by_driver, free_running, p, word);
  all<2>("while a blocking stream waits:", wait_by_driver, blocking, p, word);
  all<3>("while cudaStreamPerThread waits:", wait_by_driver, cudaStreamPerThread, p, word);
  all<4>("while a kernel in a non-blocking stream waits:", wait_by_kernel, free_running, p, word);
  close(until[1]);
  waitpid(lender, nullptr, 0);
}
