// SPDX-License-Identifier: BSD-3-Clause
// What a plain kernel reaches that adds floats of its own device to floats of the other one, over
// the link: what MPI_Accumulate of large messages is to be compared with (telpher-bench
// acc_latency). By number of blocks, each of 1024 threads with 16 bytes at a time, four in flight.
//
//   nvcc -O2 -std=c++20 -arch=native -o remote_add bench/remote_add.cu && ./remote_add [BYTES…]
//
// One process, two devices. Medians of 50 launches with their synchronisation, in us; and of one
// plain copy of the bytes, each way. The sums are checked.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "checked.cuh"

namespace {

using clock_type = std::chrono::steady_clock;

__device__ float4 sum(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__global__ void add(float4* there, const float4* here, std::size_t n) {
  constexpr int at_once = 4;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += at_once * step) {
    float4 theirs[at_once], ours[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (i + k * step < n) theirs[k] = there[i + k * step], ours[k] = here[i + k * step];
#pragma unroll
    for (int k = 0; k < at_once; ++k)
      if (i + k * step < n) there[i + k * step] = sum(theirs[k], ours[k]);
  }
}

double median_us(const std::function<void()>& work) {
  constexpr int warm = 5, runs = 50;
  std::vector<double> us;
  for (int i = 0; i < warm + runs; ++i) {
    const auto begin = clock_type::now();
    work();
    CHECKED(cudaDeviceSynchronize());
    const std::chrono::duration<double, std::micro> taken = clock_type::now() - begin;
    if (i >= warm) us.push_back(taken.count());
  }
  std::sort(us.begin(), us.end());
  return us[us.size() / 2];
}

void measure(std::size_t bytes) {
  const std::size_t n = bytes / sizeof(float4);
  float4 *here = nullptr, *there = nullptr;
  CHECKED(cudaSetDevice(1));
  CHECKED(cudaMalloc(&there, bytes));
  CHECKED(cudaMemset(there, 0, bytes));
  CHECKED(cudaSetDevice(0));
  CHECKED(cudaMalloc(&here, bytes));
  std::vector<float> values(bytes / sizeof(float), 1.0F);
  CHECKED(cudaMemcpy(here, values.data(), bytes, cudaMemcpyHostToDevice));
  float launches = 0;
  std::printf("%-12zu", bytes);
  for (const int blocks : {16, 32, 64, 128, 264}) {
    std::printf("%9.2f", median_us([&] {
                  add<<<blocks, 1024>>>(there, here, n);
                  ++launches;
                }));
    CHECKED(cudaGetLastError());
  }
  CHECKED(cudaMemcpy(values.data(), there, bytes, cudaMemcpyDeviceToHost));
  const bool right = std::all_of(values.begin(), values.end(), [&](float v) { return v == launches; });
  for (const bool out : {true, false})
    std::printf("%9.2f", median_us([&] {
                  CHECKED(cudaMemcpyAsync(out ? there : here, out ? here : there, bytes,
                                          cudaMemcpyDefault));
                }));
  std::printf("  %s\n", right ? "right" : "WRONG");
  CHECKED(cudaFree(here));
  CHECKED(cudaFree(there));
  if (!right) std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  CHECKED(cudaSetDevice(0));
  CHECKED(cudaDeviceEnablePeerAccess(1, 0));
  std::printf("# added over the link, us, by blocks; a copy to the other device, and from it\n");
  std::printf("%-12s%9d%9d%9d%9d%9d%9s%9s\n", "bytes", 16, 32, 64, 128, 264, "copy to", "from");
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {64 << 10, 1 << 20, 16 << 20, 64 << 20};
  for (const std::size_t bytes : sizes) measure(bytes);
}
