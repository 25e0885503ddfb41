// SPDX-License-Identifier: BSD-3-Clause
// telpher-demo: the first program for a new user. It prints which software runs on which devices,
// passes device buffers to ordinary MPI calls and checks every byte, and shows by which path
// messages of each size moved. On a GPU it also compares times with the same exchange staged by
// hand; times of emulated devices are meaningless. Exit code 0: all checks were right.
#include <mpi.h>
#include <unistd.h>

#include <cstdio>

#include "cuda_memory.hpp"
#include "demo_checks.hpp"
#include "demo_paths.hpp"
#include "pairs.hpp"
#include "report.hpp"

using namespace telpher::bench;

namespace {

constexpr int name_bytes = 96;

bool emulated(memory_source& source) {
  return source.backend() == "emu";
}

std::string own_line(memory_source& source) {
  char host[64] = "";
  ::gethostname(host, sizeof host - 1);
  const int device = source.device();
  const std::string model = source.backend() == "cuda" ? ", " + cuda_device_name(device) : "";
  return "device " + std::to_string(device) + " of " + std::to_string(source.device_count()) +
         " on " + host + model;
}

void introduce(memory_source& source) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char own[name_bytes] = "";
  std::snprintf(own, sizeof own, "%s", own_line(source).c_str());
  std::vector<char> lines(static_cast<std::size_t>(size) * name_bytes);
  MPI_Gather(own, name_bytes, MPI_CHAR, lines.data(), name_bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::printf("Telpher %s\n", telpher_version_text().c_str());
  std::printf("  host MPI   %s\n", mpi_version().c_str());
  std::printf("  back end   %s\n", source.backend().c_str());
  for (int r = 0; r < size; ++r)
    std::printf("  rank %-5d %s\n", r, &lines[static_cast<std::size_t>(r) * name_bytes]);
  if (emulated(source))
    std::printf(
        "\nAn emulated device is host memory that the CPU may not touch, as a GPU's is not:\n"
        "this MPI alone would crash on its addresses.\n");
}

void show_times(memory_source& source, const pairing& pair, test t) {
  const std::vector<mode> modes = {mode::telpher, mode::staged};
  plan quick;
  quick.min_time = 0.05;
  quick.batches = 5;
  if (pair.rank == 0)
    std::printf(
        "\n%s. \"staged\" is what a program does whose MPI knows no GPU: copy to the host, "
        "send,\ncopy back. Read the column \"ratio\": how many times faster Telpher is.\n",
        t == test::latency ? "4. Time of one message" : "5. Bandwidth, 16 messages in flight");
  if (pair.rank == 0) print_head(columns_of(t, "D:D", modes));
  for (std::size_t bytes = 8; bytes <= 4u << 20; bytes *= bytes < (2u << 20) ? 8 : 2) {
    const shape s{t, bytes, 16, 64u << 20, kind::device, kind::device};
    const auto found = measure(source, pair, s, modes, quick);
    if (pair.rank != 0) continue;
    print_rows(columns_of(t, "D:D", modes), {{name(t), "D:D", "telpher", bytes, found[0]},
                                             {name(t), "D:D", "staged", bytes, found[1]}});
  }
}

void measure_all(memory_source& source) {
  pairing pair = pair_up(MPI_COMM_WORLD, 1);
  if (pair.active) show_times(source, pair, test::latency);
  if (pair.active) show_times(source, pair, test::bw);
  part(MPI_COMM_WORLD, pair);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) give_up("the demonstration needs two ranks or more, e.g. mpirun -n 4");
  if (!telpher_present())
    give_up("Telpher is not in the process: start with LD_PRELOAD=.../libtelpher-<abi>.so");
  const auto source = open_memory_source("telpher");
  if (source->device_count() == 0)
    give_up("no device was found; TELPHER_BACKEND=emu takes emulated ones");
  if (rank == 0) std::printf("\n1. What runs here\n\n");
  introduce(*source);
  if (rank == 0)
    std::printf(
        "\n2. Device pointers passed to ordinary MPI calls. Each line must say \"right\": every "
        "byte was compared.\n\n");
  const tally checks = run_demo_checks(*source);
  show_paths(*source);
  if (!emulated(*source)) measure_all(*source);
  if (rank == 0 && checks.wrong == 0) std::printf("\nall %d checks right\n", checks.right);
  if (rank == 0 && checks.wrong > 0)
    std::printf("\n%d of %d checks WRONG\n", checks.wrong, checks.right + checks.wrong);
  MPI_Finalize();
  return checks.wrong == 0 ? 0 : 1;
}
