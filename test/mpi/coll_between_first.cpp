// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent sums between nodes without a setting, as the first calls on their
// communicators: they run by schedules from the size on that ways.def has for them, and their
// results are right whatever memory they have and whoever blocks meanwhile.
#include "checked_calls.hpp"
#include "ways.hpp"

namespace {

using namespace mpi_test;

int ints_of(const char* operation) {
  return static_cast<int>(later_between(operation) / sizeof(int));
}
const int least = ints_of("allreduce");

/// A sum that has its buffers, and its request once it is started.
class sum {
 public:
  sum(MPI_Comm comm, int n, int call, kind where)
      : comm_(comm), n_(n), call_(call), send_(where, bytes()), receive_(where, bytes()) {
    int me = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks_);
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(value(me, i, call));
    copy(where, send_.data(), v.data(), bytes());
  }
  sum& start() {
    MPI_Iallreduce(send_.data(), receive_.data(), n_, MPI_INT, MPI_SUM, comm_, &request);
    return *this;
  }
  std::string wait() {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return wrong_sums(receive_, n_, ranks_, call_);
  }
#if MPI_TEST_HAS_MPI_4
  void init() {
    MPI_Allreduce_init(send_.data(), receive_.data(), n_, MPI_INT, MPI_SUM, comm_, MPI_INFO_NULL,
                       &request);
  }
#endif
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  std::size_t bytes() const {
    return static_cast<std::size_t>(n_) * sizeof(int);
  }
  MPI_Comm comm_;
  int n_, call_, ranks_ = 1;
  buffer send_, receive_;
};

/// A communicator on which nothing was called.
struct fresh {
  fresh() { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }
  fresh(const fresh&) = delete;
  fresh& operator=(const fresh&) = delete;
  ~fresh() { MPI_Comm_free(&comm); }
  MPI_Comm comm = MPI_COMM_NULL;
};

void expect_path(suite& s, const char* what, bool levels) {
  const std::string path = last_path();
  if ((path == "coll_levels") != levels) s.fail("%s ran by %s", what, path.c_str());
}

void check_first(suite& s) {
  s.expect_none(sum(MPI_COMM_WORLD, least, 0, kind::device).start().wait());
  expect_path(s, "MPI_Iallreduce", true);
  for (const auto what : {call_kind::reduce, call_kind::reduce_scatter_block}) {
    s.still_alive();
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -s.rank, &comm);
    const char* name = names[static_cast<int>(what)];
    const int n = ints_of(name);
    s.expect_none(checked_call(comm, what,
                               what == call_kind::reduce ? n : (n + s.ranks - 1) / s.ranks, 1,
                               {kind::device, kind::device, false, true})
                      .run());
    expect_path(s, name, true);
    MPI_Comm_free(&comm);
  }
  const fresh own;
  s.expect_none(sum(own.comm, least - 1000, 2, kind::device).start().wait());
  expect_path(s, "a smaller one", false);
}

/// Several in flight, and a blocking one behind them.
void check_order(suite& s) {
  const fresh own;
  std::vector<std::unique_ptr<sum>> all;
  for (const int n : {least, 300, least + 5}) {
    all.push_back(std::make_unique<sum>(own.comm, n, n, kind::device));
    all.back()->start();
  }
  s.expect_none(
      checked_call(own.comm, call_kind::allreduce, least, 3, {kind::device, kind::device}).run());
  for (auto& one : all) s.expect_none(one->wait());
}

/// In host memory at all ranks, then at some; on devices in the end.
void check_memory(suite& s) {
  const fresh own;
  for (int call = 0; call < 7; ++call) {
    s.still_alive();
    s.note("memory, call %d", call);
    const bool host = call < 3 || (call < 5 && s.rank == call % s.ranks);
    s.expect_none(sum(own.comm, least, call, host ? kind::host : kind::device).start().wait());
  }
  expect_path(s, "a sum on devices", true);
}

/// One rank blocks in the host MPI before the others have come, or before they have ended.
void check_blocked(suite& s) {
  for (int call = 0; call < 4; ++call) {
    s.still_alive();
    const fresh own;
    const bool early = s.rank == call % s.ranks;
    s.note("rank %d blocks early, call %d", call % s.ranks, call);
    sum first(own.comm, least, call, kind::device), second(own.comm, least, call + 1, kind::device);
    if (call % 2 == 0 && !early) MPI_Barrier(s.control);
    first.start(), second.start();
    if (early) MPI_Barrier(s.control);
    s.expect_none(first.wait());
    s.expect_none(second.wait());
    if (call % 2 == 1 && !early) MPI_Barrier(s.control);
    s.expect_none(sum(own.comm, least, call, kind::device).start().wait());
  }
}

#if MPI_TEST_HAS_MPI_4
void check_persistent(suite& s) {
  const fresh own;
  sum one(own.comm, least, 5, kind::device);
  one.init();
  for (int round = 0; round < 2; ++round) {
    MPI_Start(&one.request);
    s.expect_none(one.wait());
    expect_path(s, "a round of MPI_Allreduce_init", true);
  }
  MPI_Request_free(&one.request);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("first", [&] { check_first(s); });
  s.run("order", [&] { check_order(s); });
  s.run("memory", [&] { check_memory(s); });
  s.run("blocked", [&] { check_blocked(s); });
#if MPI_TEST_HAS_MPI_4
  s.run("persistent", [&] { check_persistent(s); });
#endif
  return s.finish();
}
