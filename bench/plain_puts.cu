// SPDX-License-Identifier: BSD-3-Clause
// Puts, gets and messages of device memory between two ranks with a device each, over any MPI that
// takes it: Telpher over its host MPI, or another GPU-aware one. In microseconds, each complete at
// the target when its time ends:
//   put   MPI_Put and MPI_Win_flush    get   MPI_Get and MPI_Win_flush
//   message   half of an MPI_Send and MPI_Recv there and back
// Medians of rounds in which all take their turn; every form's bytes are checked.
//
//   nvcc -O2 -std=c++20 -arch=native -I MPI/include -L MPI/lib -lmpi -o plain_puts
//     bench/plain_puts.cu
//   mpirun -n 2 env LD_PRELOAD=.../libtelpher-ABI.so ./plain_puts [BYTES...]
//
// Intel MPI of PyPI (impi-rt), for which MPICH's headers do: mpiexec.hydra -n 2 ./plain_puts with
// I_MPI_OFFLOAD=1 I_MPI_OFFLOAD_MODE=cuda I_MPI_OFFLOAD_CUDA_LIBRARY=libcuda.so.1
// I_MPI_FABRICS=shm. It shows each rank a device of its own.
#include <cuda_runtime.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const int code_ = static_cast<int>(call);                                    \
    if (code_ != 0) {                                                            \
      std::fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, code_); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                              \
    }                                                                            \
  } while (0)

namespace {

constexpr int rounds = 15;
int rank = 0;

struct memory {
  explicit memory(std::size_t n) : bytes(n) {
    CHECK(cudaMalloc(&mine, n));
    CHECK(cudaMalloc(&exposed, n));
    CHECK(
        MPI_Win_create(exposed, static_cast<MPI_Aint>(n), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK(MPI_Win_lock_all(0, win));
  }
  ~memory() {
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    cudaFree(exposed);
    cudaFree(mine);
  }
  std::size_t bytes;
  char *mine = nullptr, *exposed = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

void move(const std::string& way, memory& m) {
  const int n = static_cast<int>(m.bytes);
  if (way == "message") {
    if (rank == 0) MPI_Send(m.mine, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(m.exposed, n, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(m.mine, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    return;
  }
  if (rank != 0) return;
  if (way == "put")
    CHECK(MPI_Put(m.mine, n, MPI_BYTE, 1, 0, n, MPI_BYTE, m.win));
  else
    CHECK(MPI_Get(m.mine, n, MPI_BYTE, 1, 0, n, MPI_BYTE, m.win));
  CHECK(MPI_Win_flush(1, m.win));
}

void fill(char* at, std::size_t bytes, int value) {
  CHECK(cudaMemset(at, value, bytes));
  CHECK(cudaDeviceSynchronize());
}

bool holds(const char* at, std::size_t bytes, int value) {
  std::vector<char> host(bytes);
  CHECK(cudaMemcpy(host.data(), at, bytes, cudaMemcpyDeviceToHost));
  return std::all_of(host.begin(), host.end(),
                     [&](char c) { return c == static_cast<char>(value); });
}

/// Whether the bytes are right where the way brings them.
bool is_right(const std::string& way, memory& m) {
  fill(m.mine, m.bytes, 10 + rank);
  fill(m.exposed, m.bytes, 20 + rank);
  MPI_Barrier(MPI_COMM_WORLD);
  move(way, m);
  MPI_Barrier(MPI_COMM_WORLD);
  const bool right = way == "message" ? holds(m.exposed, m.bytes, 11 - rank)
                     : way == "put"   ? rank == 0 || holds(m.exposed, m.bytes, 10)
                                      : rank == 1 || holds(m.mine, m.bytes, 21);
  int mine = right, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

double time_of(const std::string& way, memory& m, int repeats) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < repeats; ++i) move(way, m);
  const double us = (MPI_Wtime() - begin) * 1e6 / repeats;
  MPI_Barrier(MPI_COMM_WORLD);
  return way == "message" ? us / 2 : us;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaSetDevice(rank % devices));
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {8, 1024, 65536, 262144, 1048576, 16777216};
  const std::vector<std::string> ways = {"put", "get", "message"};
  if (rank == 0) std::printf("%10s %10s %10s %10s\n", "bytes", "put", "get", "message");
  for (const std::size_t bytes : sizes) {
    memory m(bytes);
    const int repeats = bytes > 1 << 20 ? 20 : 100;
    std::vector<std::vector<double>> times(ways.size());
    bool right = true;
    for (std::size_t w = 0; w < ways.size(); ++w) {
      right = is_right(ways[w], m) && right;
      time_of(ways[w], m, repeats);
    }
    for (int round = 0; round < rounds; ++round)
      for (std::size_t w = 0; w < ways.size(); ++w)
        times[w].push_back(time_of(ways[w], m, repeats));
    if (rank == 0) std::printf("%10zu", bytes);
    for (auto& t : times) {
      std::sort(t.begin(), t.end());
      if (rank == 0) std::printf(" %10.2f", t[t.size() / 2]);
    }
    if (rank == 0) std::printf("  %s\n", right ? "right" : "WRONG");
  }
  MPI_Finalize();
}
