// SPDX-License-Identifier: BSD-3-Clause
// A rank that does not come to MPI_Finalize: those that wait for it say so.
#include <mpi.h>

#include <chrono>
#include <thread>

#include "caught_log.hpp"

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(700));
    MPI_Finalize();
    return 0;
  }
  std::string said;
  {
    const mpi_test::caught_log log;
    MPI_Finalize();
    said = log.text();
  }
  const bool good = said.find("MPI_Finalize has waited") != std::string::npos;
  std::printf("%s late end\n%s", good ? "ok" : "FAILED", good ? "" : said.c_str());
  return good ? 0 : 1;
}
