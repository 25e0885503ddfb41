// SPDX-License-Identifier: BSD-3-Clause
// Two ranks: rank 0 sends a buffer in device memory, rank 1 receives it into device memory and
// checks it on the host. Device memory of telpher.h: the same program runs on every back end.
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
  if (size != 2) {
    if (rank == 0) std::fprintf(stderr, "run this with two ranks\n");
    MPI_Finalize();
    return 2;
  }

  constexpr int count = 1 << 20;
  std::vector<int> host(count);
  int* on_device = nullptr;
  TELPHER_CHECK(telpher_malloc(reinterpret_cast<void**>(&on_device), count * sizeof(int),
                               TELPHER_MEMORY_DEVICE));

  for (int i = 0; i < count; ++i) host[i] = rank == 0 ? i : -1;
  TELPHER_CHECK(telpher_memcpy(on_device, host.data(), count * sizeof(int)));

  // The device pointer goes straight to MPI.
  if (rank == 0) MPI_Send(on_device, count, MPI_INT, 1, 123, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(on_device, count, MPI_INT, 0, 123, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

  int errors = 0;
  if (rank == 1) {
    TELPHER_CHECK(telpher_memcpy(host.data(), on_device, count * sizeof(int)));
    for (int i = 0; i < count; ++i) errors += host[i] != i;
    std::printf("%d int from the device of rank 0 to the device of rank 1: %s\n", count,
                errors ? "WRONG" : "right");
  }
  TELPHER_CHECK(telpher_free(on_device));
  MPI_Finalize();
  return errors ? 1 : 0;
}
