// SPDX-License-Identifier: BSD-3-Clause
// A job whose other node is stopped, killed or cut off by test/nodes.py: pairs of ranks across the
// job's halves exchange large device messages, or all sum vectors of as many bytes as the argument
// says, until an MPI call fails. Says "exchanging" once it is
// under way, and "ended by MPI" with exit code 3 when an error was returned.
#include "memory.hpp"

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

using namespace mpi_test;

namespace {

constexpr int bytes = 4 << 20;

int exchange(void* out, void* in, int peer, int tag) {
  MPI_Request requests[2];
  if (int rc = MPI_Irecv(in, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[0])) return rc;
  if (int rc = MPI_Isend(out, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &requests[1])) return rc;
  return MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int half = ranks / 2, peer = (rank + half) % ranks;
  void* out = try_allocate(kind::device, bytes);
  void* in = try_allocate(kind::device, bytes);
  if (out == nullptr || in == nullptr) memory_failure("device memory", bytes, 0);
  const auto begin = std::chrono::steady_clock::now();
  const int summed = argc > 1 ? std::atoi(argv[1]) : 0;
  for (int round = 0; std::chrono::steady_clock::now() - begin < std::chrono::seconds(60);
       ++round) {
    const int rc = summed > 0
                       ? MPI_Allreduce(out, in, summed / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD)
                       : exchange(out, in, peer, round % 1000);
    if (rc != MPI_SUCCESS) {
      std::printf("rank %d: ended by MPI\n", rank);
      std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (round == 5 && rank == 0) {
      std::printf("exchanging\n");
      std::fflush(stdout);
    }
  }
  std::printf("rank %d: nothing happened\n", rank);
  MPI_Abort(MPI_COMM_WORLD, 4);
}
