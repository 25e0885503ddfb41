// SPDX-License-Identifier: BSD-3-Clause
// A ping-pong of two ranks by their kernels (telpher/device.h): put with signal, and the wait for the answer's, all hops in one
// launch. Beside it the same by hand: a kernel, cudaStreamSynchronize, MPI_Send or MPI_Recv of device memory. On one node or, with
// TELPHER_TEST_PRETENDED_NODES=2 and TELPHER_STREAMS=on, between two.
//   nvcc -O2 -std=c++20 -arch=native -I include -I $MPI/include -o kernel_puts bench/kernel_puts.cu -L $MPI/lib -lmpi -L build/lib -ltelpher-mpich
//   mpirun -n 2 env LD_PRELOAD=build/lib/libtelpher-mpich.so ./kernel_puts
#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "telpher/device.h"
#include "telpher/window.h"

namespace {

constexpr int rounds = 7;
constexpr std::size_t most = 4 << 20;

// Word 0 is the signal; the message follows at 128.
__global__ void ping_pong(const telpher_device_window* w, const void* mine, std::uint64_t bytes, std::uint64_t first,
                          int hops) {
  const int rank = telpher_window_rank(w), other = 1 - rank;
  for (std::uint64_t hop = first; hop < first + hops; ++hop) {
    if (rank == 0) telpher_put_signal_block(w, other, 128, mine, bytes, 0, hop, TELPHER_SIGNAL_SET);
    telpher_wait_signal_block(w, 0, TELPHER_AT_LEAST, hop);
    if (rank == 1) telpher_put_signal_block(w, other, 128, mine, bytes, 0, hop, TELPHER_SIGNAL_SET);
  }
}

__global__ void touch(std::uint64_t* at) { *at += 1; }

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

void by_hand(int rank, void* mine, void* got, std::size_t bytes, int hops, cudaStream_t stream) {
  for (int hop = 0; hop < hops; ++hop) {
    for (int turn = 0; turn < 2; ++turn)
      if (turn == rank) {
        touch<<<1, 1, 0, stream>>>(static_cast<std::uint64_t*>(mine));
        cudaStreamSynchronize(stream);
        MPI_Send(mine, static_cast<int>(bytes), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(got, static_cast<int>(bytes), MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int level = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  telpher_use_device();
  char *memory = nullptr, *mine = nullptr, *got = nullptr;
  cudaMalloc(&memory, most + 128), cudaMalloc(&mine, most), cudaMalloc(&got, most);
  cudaMemset(memory, 0, most + 128), cudaMemset(mine, 0, most);
  cudaDeviceSynchronize();
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  MPI_Win win;
  MPI_Win_create(memory, most + 128, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const telpher_device_window* w = nullptr;
  if (telpher_win_device(win, &w) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  if (rank == 0) std::printf("us a hop, medians of %d rounds\n%10s %12s %12s\n", rounds, "bytes", "kernels", "by hand");
  std::uint64_t done = 1;
  for (const std::size_t bytes : {8ul, 8192ul, 65536ul, 1048576ul, 4194304ul}) {
    const int hops = bytes > 100000 ? 20 : 200;
    std::vector<double> kernels, hands;
    for (int round = 0; round < rounds; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      double begin = MPI_Wtime();
      ping_pong<<<1, 512, 0, stream>>>(w, mine, bytes, done, hops);
      cudaStreamSynchronize(stream);
      kernels.push_back((MPI_Wtime() - begin) / hops / 2 * 1e6);
      done += hops;
      MPI_Barrier(MPI_COMM_WORLD);
      begin = MPI_Wtime();
      by_hand(rank, mine, got, bytes, hops, stream);
      hands.push_back((MPI_Wtime() - begin) / hops / 2 * 1e6);
    }
    if (rank == 0) std::printf("%10zu %12.1f %12.1f\n", bytes, median(kernels), median(hands)), std::fflush(stdout);
  }
  MPI_Win_free(&win);
  MPI_Finalize();
}
