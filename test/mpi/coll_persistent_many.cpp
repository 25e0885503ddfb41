// SPDX-License-Identifier: BSD-3-Clause
// Persistent collectives that come and go, more of them than a job may have at once: each goes as
// the first did, and what they took comes back. Ranks free them at different times and in different
// orders; communicators come and go with them; matched ones have rooms that peers write to.
#include <deque>

#include "graph_calls.hpp"
#include "matched_pairs.hpp"
#include "paths.hpp"

using namespace mpi_test;

#if MPI_TEST_HAS_MPI_4

namespace {

constexpr int n = 1000, rounds = 300;

int byte_of(int round, int rank) {
  return 1 + (round + rank) % 28;
}
int sum_of(const suite& s, int round) {
  int sum = 0;
  for (int r = 0; r < s.ranks; ++r) sum += byte_of(round, r);
  return sum;
}

void start_and_wait(MPI_Request& r) {
  MPI_Start(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

/// All rounds must go as the first one does.
class same_path {
 public:
  explicit same_path(suite& s) : s_(s) {}
  void look(int round) {
    if (round == 0) first_ = last_path();
    if (last_path() != first_)
      s_.fail("round %d went by %s, the first by %s", round, last_path().c_str(), first_.c_str());
  }

 private:
  suite& s_;
  std::string first_;
};

/// Each rank keeps some of its requests for a while, another number at each; every other time it
/// frees the youngest of them.
void freed_late(suite& s) {
  bytes in(n, 0), out(n, 0);
  std::deque<MPI_Request> kept;
  same_path path(s);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    in.set(byte_of(round, s.rank));
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Allreduce_init(in.data(), out.data(), n, MPI_UNSIGNED_CHAR, MPI_SUM, s.control,
                       MPI_INFO_NULL, &r);
    start_and_wait(r);
    s.expect(out.all(sum_of(s, round) & 0xff), "a sum");
    path.look(round);
    kept.push_back(r);
    if (static_cast<int>(kept.size()) <= 3 * s.rank) continue;
    if (round % 2) std::swap(kept.front(), kept.back());
    MPI_Request_free(&kept.front());
    kept.pop_front();
  }
  for (MPI_Request& r : kept) MPI_Request_free(&r);
}

/// On communicators of all ranks, and of half of them, that go with the requests.
void with_their_communicators(suite& s) {
  bytes data(n, 0);
  same_path path(s);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    MPI_Comm comm = MPI_COMM_NULL;
    if (round % 2)
      MPI_Comm_dup(s.control, &comm);
    else
      MPI_Comm_split(s.control, s.ranks > 3 ? s.rank % 2 : 0, s.rank, &comm);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    data.set(rank == 0 ? byte_of(round, 0) : 0);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Bcast_init(data.data(), n, MPI_BYTE, 0, comm, MPI_INFO_NULL, &r);
    start_and_wait(r);
    s.expect(data.all(byte_of(round, 0)), "a broadcast");
    path.look(round);
    MPI_Request_free(&r);
    MPI_Comm_free(&comm);
  }
}

/// Broadcasts by kernels, whose rooms stay until all ranks have freed the request.
void matched(suite& s) {
  const test_stream stream;
  bytes data(n, 0);
  long long before = -1;
  for (int round = 0; round < 60; ++round) {
    s.note("round %d", round);
    stream.set(data.data(), s.rank == 0 ? byte_of(round, 0) : 0, n);
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Bcast_init(data.data(), n, MPI_BYTE, 0, s.control, MPI_INFO_NULL, &r);
    STREAM_CALL(telpher_match)(1, &r);
    start(r, stream);
    wait(r, stream);
    stream.wait();
    s.expect(data.all(byte_of(round, 0)), "a matched broadcast");
    MPI_Request_free(&r);
    if (round == 20) before = held();
  }
  if (before >= 0) s.expect(held() <= before + 8, "memory that is held does not grow");
}

}  // namespace

#endif

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
#if MPI_TEST_HAS_MPI_4
  s.run("freed late", [&] { freed_late(s); });
  s.run("with their communicators", [&] { with_their_communicators(s); });
  s.run("matched", [&] { matched(s); });
#endif
  return s.finish();
}
