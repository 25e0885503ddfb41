// SPDX-License-Identifier: BSD-3-Clause
// Reports how a rank was started: one line per rank with its number, what is preloaded, and its
// arguments.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* preload = std::getenv("LD_PRELOAD");
  const char* backend = std::getenv("TELPHER_BACKEND");
  std::printf("rank %d of %d preload %s backend %s argument %s\n", rank, size,
              preload ? preload : "none", backend ? backend : "none", argc > 1 ? argv[1] : "none");
  MPI_Finalize();
  return 0;
}
