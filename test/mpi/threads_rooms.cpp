// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE beside what Telpher keeps for a communicator that spans nodes, and the calls
// that run there. Skipped where the host MPI does not provide the level.
#include <chrono>
#include <thread>
#include <vector>

#include "suite.hpp"

using namespace mpi_test;

namespace {

/// Each thread makes communicators, so that two ranks may have made them in different orders when
/// MPI_Finalize gives back what Telpher keeps for each of them.
void kept_communicators() {
  constexpr int each = 15;
  std::vector<MPI_Comm> parents(4);
  for (MPI_Comm& c : parents) MPI_Comm_dup(MPI_COMM_WORLD, &c);
  std::vector<std::thread> threads;
  for (MPI_Comm parent : parents)
    threads.emplace_back([parent] {
      buffer one(kind::device, 8);
      one.clear();
      for (int i = 0; i < each; ++i) {
        MPI_Comm comm;
        MPI_Comm_dup(parent, &comm);
        MPI_Allreduce(MPI_IN_PLACE, one.data(), 1, MPI_INT, MPI_SUM, comm);
      }
    });
  for (std::thread& t : threads) t.join();
}

/// One thread is in a collective that no other rank has begun. Another thread's barrier comes first
/// at the other ranks: it must not wait for that collective, also where no vote holds it up.
void barrier_beside_a_collective(suite& s) {
  constexpr int n = 30000;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  buffer data(kind::device, n * sizeof(int));
  data.clear();
  const auto sum = [&] {
    const std::vector<int> one(n, 1), all(n, s.ranks);
    data.write(reinterpret_cast<const unsigned char*>(one.data()), n * sizeof(int));
    MPI_Allreduce(MPI_IN_PLACE, data.data(), n, MPI_INT, MPI_SUM, comm);
    s.expect_none(data.compare(reinterpret_cast<const unsigned char*>(all.data())));
  };
  for (int call = 0; call < 6; ++call) sum();
  for (int round = 0; round < 5; ++round) {
    s.note("round %d", round);
    if (s.rank % 2 == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      sum();
      continue;
    }
    std::thread other(sum);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that it has probably begun
    MPI_Barrier(MPI_COMM_WORLD);
    other.join();
  }
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (!s.has_threads()) {
    s.opt.words.clear();
    return s.finish();
  }
  s.run("barrier beside a collective", [&] { barrier_beside_a_collective(s); });
  s.run("communicators kept", [&] { kept_communicators(); });
  return s.finish();
}
