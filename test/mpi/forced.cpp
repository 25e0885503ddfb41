// SPDX-License-Identifier: BSD-3-Clause
// With TELPHER_PATH a message between devices goes by that path where it can. What a forced path
// cannot serve goes another way, so a run of other tests over it may be one of that other way.
#include "paths.hpp"

using namespace mpi_test;

namespace {

/// Pairs of integers with as much between them.
MPI_Datatype gaps() {
  MPI_Datatype made;
  MPI_Type_vector(500, 2, 4, MPI_INT, &made);
  MPI_Type_commit(&made);
  return made;
}

/// Rank 0 sends to rank 1, which waits: a late receiver finds the bytes sent ahead. The first
/// message of the two is not judged: it tells each of the other's memory. On a busy machine it may
/// take many turns until a receiver waits.
void by_path(suite& s, const std::string& path, std::size_t bytes, MPI_Datatype type) {
  int size = 0;
  MPI_Type_size(type, &size);
  const int count = as_int(bytes / static_cast<std::size_t>(size));
  const std::size_t extent = type == MPI_BYTE ? bytes : 2 * bytes;
  buffer memory(kind::device, extent);
  int right = 0;
  for (int turn = 0; turn < 1000 && right == 0; ++turn) {
    s.note("%zu bytes, turn %d", bytes, turn);
    MPI_Barrier(s.control);
    if (s.rank == 0) {
      memory.fill(static_cast<std::uint64_t>(turn));
      usleep(2000);
      MPI_Send(memory.data(), count, type, 1, 1, MPI_COMM_WORLD);
    } else if (s.rank == 1) {
      memory.clear();
      MPI_Recv(memory.data(), count, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      right = turn > 0 && last_path() == path;
      if (type == MPI_BYTE) s.expect_none(memory.compare(static_cast<std::uint64_t>(turn), bytes));
    }
    MPI_Bcast(&right, 1, MPI_INT, 1, s.control);
  }
  if (right == 0 && s.rank == 1)
    s.fail("%zu bytes went by %s, not by %s", bytes, last_path().c_str(), path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const char* const forced = std::getenv("TELPHER_PATH");
  const std::string path = forced ? forced : "";
  s.run("forced path", [&] {
    if (path == "ipc_unpack") {
      MPI_Datatype type = gaps();
      by_path(s, path, 400000, type);
      MPI_Type_free(&type);
      return;
    }
    const bool small = path == "mapped" || path == "linger";
    for (const std::size_t bytes :
         {std::size_t{small ? 1000u : 20000u}, std::size_t{small ? 8000u : 700000u}})
      by_path(s, path, bytes, MPI_BYTE);
  });
  return s.finish();
}
