// SPDX-License-Identifier: BSD-3-Clause
// A sender between nodes whose call has returned and who calls MPI no more until its receiver,
// which has been waiting, says that the message is here.
#include <atomic>

#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr std::size_t bytes = 2000;
constexpr double limit_s = 20;

/// A word for each rank, which all see without MPI.
class seen_words {
 public:
  seen_words() {
    MPI_Win_allocate_shared(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &own_,
                            &win_);
    at(0).store(0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~seen_words() { MPI_Win_free(&win_); }
  seen_words(const seen_words&) = delete;
  seen_words& operator=(const seen_words&) = delete;

  void tell(long round) { std::atomic_ref<long>(*own_).store(round); }
  /// False if the rank does not get there in time.
  bool wait_for(int rank, long round) {
    for (const double begin = MPI_Wtime(); seconds_since(begin) < limit_s; usleep(100))
      if (at(rank).load() >= round) return true;
    return false;
  }

 private:
  static double seconds_since(double begin) { return MPI_Wtime() - begin; }
  std::atomic_ref<long> at(int rank) {
    MPI_Aint size;
    int unit;
    long* word = nullptr;
    MPI_Win_shared_query(win_, rank, &size, &unit, &word);
    return std::atomic_ref<long>(*word);
  }

  long* own_ = nullptr;
  MPI_Win win_ = MPI_WIN_NULL;
};

void sender_leaves(suite& s) {
  seen_words seen;
  if (s.rank > 1) return;
  const int other = 1 - s.rank;
  buffer own(kind::device, bytes), got(kind::device, bytes);
  for (long round = 1; round <= 200 && !s.failing(); ++round) {
    s.note("round %ld", round);
    const bool sends = (round + s.rank) % 2 == 0;
    if (sends) {
      own.fill(static_cast<std::uint64_t>(round));
      MPI_Send(own.data(), static_cast<int>(bytes), MPI_BYTE, other, 0, MPI_COMM_WORLD);
      s.expect(seen.wait_for(other, round), "a receiver that has its message");
    } else {
      got.clear();
      MPI_Recv(got.data(), static_cast<int>(bytes), MPI_BYTE, other, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      seen.tell(round);
      s.expect_none(got.compare(static_cast<std::uint64_t>(round), bytes));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("sender leaves", [&] { sender_leaves(s); });
  return s.finish();
}
