// SPDX-License-Identifier: BSD-3-Clause
// A sender between nodes whose call has returned and who calls MPI no more until its receiver,
// which has been waiting, says that the message is here. And one whose receiver blocks elsewhere.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "suite.hpp"

namespace {

using namespace mpi_test;

constexpr std::size_t short_bytes = 2000, long_bytes = 300000;
constexpr double limit_s = 20;

/// A word for each rank, which all see without MPI.
class seen_words {
 public:
  explicit seen_words(const suite& s) : rank_(s.rank) {
    char name[32] = "";
    if (s.rank == 0)
      std::snprintf(name, sizeof name, "/telpher-seen-%d", static_cast<int>(getpid()));
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    const int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    size_ = static_cast<std::size_t>(s.ranks) * sizeof(long);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size_)) != 0) std::abort();
    words_ = static_cast<long*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);  // all have opened it, as zeros
    shm_unlink(name);
  }
  ~seen_words() { munmap(words_, size_); }
  seen_words(const seen_words&) = delete;
  seen_words& operator=(const seen_words&) = delete;

  void tell(long round) { at(rank_).store(round); }
  /// False if the rank does not get there in time.
  bool wait_for(int rank, long round) {
    for (const double begin = MPI_Wtime(); seconds_since(begin) < limit_s; usleep(100))
      if (at(rank).load() >= round) return true;
    return false;
  }

 private:
  static double seconds_since(double begin) { return MPI_Wtime() - begin; }
  std::atomic_ref<long> at(int rank) { return std::atomic_ref<long>(words_[rank]); }

  int rank_;
  std::size_t size_ = 0;
  long* words_ = nullptr;
};

void sender_leaves(suite& s, std::size_t bytes, long rounds) {
  seen_words seen(s);
  if (s.rank > 1) return;
  const int other = 1 - s.rank;
  buffer own(kind::device, bytes), got(kind::device, bytes);
  for (long round = 1; round <= rounds && !s.failing(); ++round) {
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

/// The receive is posted, so the send ends, although the receiver blocks in the host MPI until it
/// has.
void receiver_blocks(suite& s) {
  buffer own(kind::device, long_bytes), got(kind::device, long_bytes);
  for (int round = 0; round < 5; ++round) {
    s.note("round %d", round);
    MPI_Request request = MPI_REQUEST_NULL;
    const int count = as_int(long_bytes);
    got.clear();
    if (s.rank == 1) MPI_Irecv(got.data(), count, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
    own.fill(static_cast<std::uint64_t>(round));
    if (s.rank == 0) {
      usleep(20000);  // until then the other one is blocked
      MPI_Send(own.data(), count, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (s.rank == 1) s.expect_none(got.compare(static_cast<std::uint64_t>(round), long_bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("short messages", [&] { sender_leaves(s, short_bytes, 200); });
  s.run("long messages", [&] { sender_leaves(s, long_bytes, 20); });
  s.run("blocked receivers", [&] { receiver_blocks(s); });
  return s.finish();
}
