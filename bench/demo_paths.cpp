// SPDX-License-Identifier: BSD-3-Clause
#include "demo_paths.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstring>

#include "window_buffer.hpp"

namespace telpher::bench {

namespace {

constexpr int name_bytes = 32;

struct meaning {
  const char* path;
  const char* text;
};
constexpr meaning meanings[] = {
#define TELPHER_PATH(name, choice, what) {#name, what},
#include "base/paths.def"
#undef TELPHER_PATH
    {"coll_staged", "copied to the host, reduced by the host MPI, copied back"},
    {"coll_packed", "one kernel a rank; data and flags travel in the same words"},
    {"coll_exchange", "one kernel a rank that reads and writes its peers' memory"},
    {"coll_stepped", "device copies and small kernels, one after the other"},
    {"coll_vendor", "by the vendor's library (NCCL, RCCL)"},
    {"coll_levels", "on the devices of each node, then between nodes"}};

const char* meaning_of(const char* path) {
  for (const meaning& m : meanings)
    if (std::strcmp(m.path, path) == 0) return m.text;
  return "";
}

std::string size_text(std::size_t bytes) {
  if (bytes >= 1u << 20) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1u << 10) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

/// Only the receiver knows the path; rank 0 prints it.
void show(const char* call, std::size_t bytes, int rank) {
  char path[name_bytes] = "";
  if (rank == 1) std::snprintf(path, sizeof path, "%s", last_path().c_str());
  MPI_Bcast(path, name_bytes, MPI_CHAR, 1, MPI_COMM_WORLD);
  if (rank != 0) return;
  std::printf("  %-14s %8s   %-13s  %s\n", call, size_text(bytes).c_str(), path, meaning_of(path));
  std::fflush(stdout);
}

void send(window_buffer& buffer, std::size_t bytes, int rank) {
  const int count = static_cast<int>(bytes);
  if (rank == 0) MPI_Send(buffer.slot(0), count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(buffer.slot(0), count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

}  // namespace

void show_paths(memory_source& source) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::printf(
        "\n3. How the bytes moved: Telpher chooses a path by size, memory and place. On a node\n"
        "the good ones need no copy in host memory; \"staged\" ones do.\n\n"
        "  %-14s %8s   %-13s  %s\n",
        "call", "size", "path", "what that means");
  for (const std::size_t bytes : {8ul, 4096ul, 65536ul, 4194304ul}) {
    window_buffer buffer(source, kind::device, bytes, 1);
    send(buffer, bytes, rank);
    show("MPI_Send", bytes, rank);
  }
  for (const std::size_t bytes : {1024ul, 4194304ul}) {
    window_buffer in(source, kind::device, bytes, 1), out(source, kind::device, bytes, 1);
    MPI_Allreduce(in.slot(0), out.slot(0), static_cast<int>(bytes / sizeof(float)), MPI_FLOAT,
                  MPI_SUM, MPI_COMM_WORLD);
    show("MPI_Allreduce", bytes, rank);
  }
}

}  // namespace telpher::bench
