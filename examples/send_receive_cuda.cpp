// SPDX-License-Identifier: BSD-3-Clause
// Two ranks: rank 0 sends a buffer in device memory, rank 1 receives it into device memory and
// checks it on the host. Plain CUDA and MPI; nothing here knows of Telpher.
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
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "run this with two ranks\n");
    MPI_Finalize();
    return 2;
  }

  // One device for each rank of a node, taken round.
  int devices = 0, local_rank = 0;
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &local_rank);
  MPI_Comm_free(&node);
  CUDA_CHECK(cudaGetDeviceCount(&devices));
  CUDA_CHECK(cudaSetDevice(local_rank % devices));

  constexpr int count = 1 << 20;
  std::vector<int> host(count);
  int* on_device = nullptr;
  CUDA_CHECK(cudaMalloc(reinterpret_cast<void**>(&on_device), count * sizeof(int)));

  for (int i = 0; i < count; ++i) host[i] = rank == 0 ? i : -1;
  CUDA_CHECK(cudaMemcpy(on_device, host.data(), count * sizeof(int), cudaMemcpyHostToDevice));

  // The device pointer goes straight to MPI.
  if (rank == 0) MPI_Send(on_device, count, MPI_INT, 1, 123, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(on_device, count, MPI_INT, 0, 123, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  int errors = 0;
  if (rank == 1) {
    CUDA_CHECK(cudaMemcpy(host.data(), on_device, count * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; ++i) errors += host[i] != i;
    std::printf("%d int from the device of rank 0 to the device of rank 1: %s\n", count,
                errors ? "WRONG" : "right");
  }
  CUDA_CHECK(cudaFree(on_device));
  MPI_Finalize();
  return errors ? 1 : 0;
}
