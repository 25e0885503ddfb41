// SPDX-License-Identifier: BSD-3-Clause
// What plain kernels reach on one device that pack runs of bytes, a stride apart, and unpack them
// again: what packing of derived types (telpher-bench pack, unpack) is to be compared with. A work
// item moves 16 bytes at a time, four in flight; runs and strides are multiples of 16 bytes. Bytes
// of data a second, as a part of what a plain copy by the same kernel reaches; the best of several
// numbers of blocks.
//
//   nvcc -O2 -std=c++20 -arch=native -o strided bench/strided.cu && ./strided [BYTES…]
#include <algorithm>
#include <cstdint>
#include <vector>

#include "checked.cuh"

namespace {

struct layout {
  std::uint32_t run, stride;  // in vectors of 16 bytes
};

__device__ std::size_t place(layout l, std::size_t i) {
  return i / l.run * l.stride + i % l.run;
}

template <bool pack>
__global__ void move(uint4* to, const uint4* from, layout l, std::size_t n) {
  constexpr int at_once = 4;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += at_once * step) {
    uint4 v[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (i + k * step < n) v[k] = from[pack ? place(l, i + k * step) : i + k * step];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (i + k * step < n) to[pack ? i + k * step : place(l, i + k * step)] = v[k];
  }
}

/// Of the best number of blocks, in us.
template <bool pack>
double best_us(uint4* to, const uint4* from, layout l, std::size_t n) {
  constexpr int runs = 20;
  cudaEvent_t begin, end;
  CHECKED(cudaEventCreate(&begin));
  CHECKED(cudaEventCreate(&end));
  double best = 1e30;
  for (const int blocks : {132, 264, 528, 1056, 2112, 8448})
    for (int round = 0; round < 4; ++round) {
      CHECKED(cudaEventRecord(begin));
      for (int i = 0; i < runs; ++i) move<pack><<<blocks, 512>>>(to, from, l, n);
      CHECKED(cudaEventRecord(end));
      CHECKED(cudaEventSynchronize(end));
      float ms = 0;
      CHECKED(cudaEventElapsedTime(&ms, begin, end));
      if (round > 0) best = std::min(best, 1e3 * ms / runs);
    }
  CHECKED(cudaEventDestroy(begin));
  CHECKED(cudaEventDestroy(end));
  return best;
}

/// Packs, empties what it packed from, unpacks, and compares.
void check_once(uint4* packed, uint4* apart, layout l, std::size_t n, std::size_t all) {
  std::vector<std::uint32_t> given(all * 4), got(all * 4);
  for (std::size_t i = 0; i < given.size(); ++i) given[i] = static_cast<std::uint32_t>(i * 2654435761u);
  CHECKED(cudaMemcpy(apart, given.data(), all * 16, cudaMemcpyHostToDevice));
  move<true><<<264, 512>>>(packed, apart, l, n);
  CHECKED(cudaMemset(apart, 0, all * 16));
  move<false><<<264, 512>>>(apart, packed, l, n);
  CHECKED(cudaMemcpy(got.data(), apart, all * 16, cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < all; ++i) {
    const bool data = i % l.stride < l.run;
    for (std::size_t k = 4 * i; k < 4 * i + 4; ++k)
      if (got[k] != (data ? given[k] : 0)) {
        std::printf("wrong at vector %zu\n", i);
        std::exit(1);
      }
  }
}

void measure(std::size_t bytes, layout l) {
  const std::size_t n = bytes / 16 / l.run * l.run, all = n / l.run * l.stride;
  uint4 *packed = nullptr, *apart = nullptr;
  CHECKED(cudaMalloc(&packed, n * 16));
  CHECKED(cudaMalloc(&apart, all * 16));
  check_once(packed, apart, l, n, all);
  const double plain = best_us<true>(packed, apart, {1, 1}, n);
  const double pack = best_us<true>(packed, apart, l, n), unpack = best_us<false>(apart, packed, l, n);
  std::printf("%-12zu %5u of %5u B %10.1f GB/s %8.2f %8.2f\n", bytes, l.run * 16, l.stride * 16,
              2e-3 * static_cast<double>(n) * 16 / plain, plain / pack, plain / unpack);
  CHECKED(cudaFree(apart));
  CHECKED(cudaFree(packed));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {4 << 20, 16 << 20, 64 << 20, 256 << 20};
  std::printf("bytes of data  runs            copy (read + written)   pack   unpack, of the copy\n");
  for (const std::size_t bytes : sizes)
    for (const layout l : {layout{2, 4}, {2, 8}, {2, 33}, {4, 8}, {8, 16}, {32, 33}, {32, 64}}) measure(bytes, l);
}
