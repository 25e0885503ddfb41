// SPDX-License-Identifier: BSD-3-Clause
// Messages right behind the program's own cudaMemcpy between device buffers, which returns before
// the bytes are there: what is sent is what was copied, also from pools and managed memory, whose
// allocations have no attribute for it. On CUDA alone: the emulated device has no such copies.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "chunk_memory.hpp"
#include "cuda_driver.hpp"

namespace {

using namespace mpi_test;
using address = unsigned long long;  // CUdeviceptr

constexpr std::size_t copied = std::size_t{256} << 20, sent = std::size_t{1} << 20;

void require(int code, const char* call) {
  if (code == 0) return;
  std::fprintf(stderr, "%s failed: %d\n", call, code);
  std::abort();
}
#define CUDA(name, ...) require(cuda_driver::call(#name, __VA_ARGS__), #name)

address take(const char* from, int device) {
  address made = 0;
  if (std::strcmp(from, "pool") == 0) {
    CUDA(cuMemAllocAsync, &made, copied, static_cast<void*>(nullptr));
    CUDA(cuStreamSynchronize, static_cast<void*>(nullptr));
  } else if (std::strcmp(from, "managed") == 0) {
    constexpr unsigned global = 1;
    CUDA(cuMemAllocManaged, &made, copied, global);
    CUDA(cuMemPrefetchAsync, made, copied, device, static_cast<void*>(nullptr));
  } else {
    CUDA(cuMemAlloc_v2, &made, copied);
  }
  return made;
}

void check(suite& s, const char* from, int device) {
  const int peer = s.rank ^ 1, n = as_int(sent);
  if (peer >= s.ranks) return;
  const address to = take(from, device), source = take("malloc", device);
  std::vector<unsigned char> in(sent);
  for (int round = 1; round < 6; ++round) {
    CUDA(cuMemsetD8_v2, source, static_cast<unsigned char>(round), copied);
    CUDA(cuMemsetD8_v2, to, static_cast<unsigned char>(0), copied);
    CUDA(cuStreamSynchronize, static_cast<void*>(nullptr));
    for (int i = 0; i < 20; ++i) CUDA(cuMemcpyDtoD_v2, to, source, copied);
    auto* const last = reinterpret_cast<std::byte*>(to + copied - sent);
    if (s.rank < peer)
      MPI_Send(last, n, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    else
      MPI_Recv(in.data(), n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const auto right = std::count(in.begin(), in.end(), round);
    if (s.rank > peer) s.expect(right == n, "what was copied last");
  }
  CUDA(cuMemFree_v2, to);
  CUDA(cuMemFree_v2, source);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  int device = 0;
  if (!look_for_device(device) || !on_cuda()) {
    std::printf("# left out: copies of CUDA's driver\n");
    return s.finish();
  }
  void* context = nullptr;
  CUDA(cuDevicePrimaryCtxRetain, &context, device);
  CUDA(cuCtxSetCurrent, context);
  for (const char* from : {"pool", "malloc", "managed"})
    s.run(from, [&] { check(s, from, device); });
  return s.finish();
}
