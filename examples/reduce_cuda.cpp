// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks: MPI_Reduce from device memory to device memory, checked on rank 0's host.
// Plain CUDA and MPI; nothing here knows of Telpher.
#include <mpi.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                  \
  do {                                                                    \
    if (const cudaError_t error = (call); error != cudaSuccess) {         \
      std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                       \
    }                                                                     \
  } while (0)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // One device for each rank of a node, taken round.
  int devices = 0, local_rank = 0;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local_rank);
  MPI_Comm_free(&node);
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  CUDA_CHECK(cudaSetDevice(local_rank % devices));

  constexpr int count = 100000;
  constexpr int root = 0;
  std::vector<int> host(count);
  int *values = nullptr, *sums = nullptr;
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&values), count * sizeof(int)));
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&sums), count * sizeof(int)));

  for (int i = 0; i < count; ++i) host[i] = i + rank;
  CUDA_CHECK(cudaMemcpy(values, host.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemset(sums, 0, count * sizeof(int)));

  MPI_Reduce(values, sums, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);

  int errors = 0;
  if (rank == root) {
    CUDA_CHECK(cudaMemcpy(host.data(), sums, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) errors += host[i] != i * size + size * (size - 1) / 2;
    std::printf("sum of %d int over %d ranks in device memory: %s\n", count, size,
                errors ? "WRONG" : "right");
  }
  CUDA_CHECK(cudaFree(values));
  CUDA_CHECK(cudaFree(sums));
  MPI_Finalize();
  return errors ? 1 : 0;
}
