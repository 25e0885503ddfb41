// SPDX-License-Identifier: BSD-3-Clause
// Any number of ranks: MPI_Reduce from device memory to device memory, checked on rank 0's host.
// Device memory of telpher.h: the same program runs on every back end.
#include <mpi.h>
#include <telpher/telpher.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#define TELPHER_CHECK(call)                                                 \
  do {                                                                      \
    if (const int error = (call); error != TELPHER_SUCCESS) {               \
      std::fprintf(stderr, "%s: %s\n", #call, telpher_error_string(error)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                         \
    }                                                                       \
  } while (0)

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  constexpr int count = 100000;
  constexpr int root = 0;
  std::vector<int> host(count);
  int *values = nullptr, *sums = nullptr;
  TELPHER_CHECK(telpher_malloc(reinterpret_cast<void**>(&values), count * sizeof(int),
                               TELPHER_MEMORY_DEVICE));
  TELPHER_CHECK(
      telpher_malloc(reinterpret_cast<void**>(&sums), count * sizeof(int), TELPHER_MEMORY_DEVICE));

  for (int i = 0; i < count; ++i) host[i] = i + rank;
  TELPHER_CHECK(telpher_memcpy(values, host.data(), count * sizeof(int)));
  TELPHER_CHECK(telpher_memset(sums, 0, count * sizeof(int)));

  MPI_Reduce(values, sums, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);

  int errors = 0;
  if (rank == root) {
    TELPHER_CHECK(telpher_memcpy(host.data(), sums, count * sizeof(int)));
    for (int i = 0; i < count; ++i) errors += host[i] != i * size + size * (size - 1) / 2;
    std::printf("sum of %d int over %d ranks in device memory: %s\n", count, size,
                errors ? "WRONG" : "right");
  }
  TELPHER_CHECK(telpher_free(values));
  TELPHER_CHECK(telpher_free(sums));
  MPI_Finalize();
  return errors ? 1 : 0;
}
