// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking and persistent sums in two levels, between nodes.
#pragma once

#include <memory>

#include "checked_calls.hpp"

namespace mpi_test {

#if MPI_TEST_HAS_MPI_4
/// Persistent sums: several, started in another order at each rank, of any memory, freed while
/// inactive, made again. `n` ints each.
class persistent_sum {
 public:
  persistent_sum(MPI_Comm comm, int n, memory_kinds k)
      : n_(n), send_(k.send, bytes()), receive_(k.receive, bytes()) {
    MPI_Comm_size(comm, &ranks_);
    MPI_Comm_rank(comm, &me_);
    in_place_ = k.in_place;
    MPI_Allreduce_init(in_place_ ? MPI_IN_PLACE : send_.data(), receive_.data(), n, MPI_INT,
                       MPI_SUM, comm, MPI_INFO_NULL, &request_);
  }
  ~persistent_sum() { MPI_Request_free(&request_); }
  void start(int call) {
    call_ = call;
    std::vector<int> v;
    for (int i = 0; i < n_; ++i) v.push_back(value(me_, i, call));
    buffer& from = in_place_ ? receive_ : send_;
    copy(from.memory(), from.data(), v.data(), bytes());
    MPI_Start(&request_);
  }
  std::string wait() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return wrong_sums(receive_, n_, ranks_, call_);
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(n_) * sizeof(int); }
  int n_, call_ = 0, ranks_ = 1, me_ = 0;
  bool in_place_ = false;
  buffer send_, receive_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

inline void check_persistent(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::unique_ptr<persistent_sum> outlives;
  for (int life = 0; life < 3; ++life) {
    std::vector<std::unique_ptr<persistent_sum>> sums;
    for (int i = 0; i < 3; ++i) {
      const bool host = i == 2 && (s.rank + life) % 2 == 0;  // some ranks have no device
      const kind k = host ? kind::host : kind::device;
      sums.push_back(std::make_unique<persistent_sum>(comm, i == 1 ? 3001 : 5 + i,
                                                      memory_kinds{k, k, life == 1}));
    }
    for (int round = 0; round < 20; ++round) {
      s.note("persistent, life %d, round %d", life, round);
      for (int i = 0; i < 3; ++i)  // in another order at each rank
        sums[static_cast<std::size_t>((i + s.rank + round) % 3)]->start(round);
      if (round % 7 == 3) MPI_Barrier(s.control);  // a rank blocks while they are under way
      for (auto& one : sums) s.expect_none(one->wait());
      if (const std::string path = last_path(); round % 7 != 3 && path != "coll_levels")
        s.fail("MPI_Allreduce_init ran by %s", path.c_str());
    }
    if (life == 2) outlives = std::move(sums[1]);
  }
  MPI_Comm_free(&comm);
  outlives->start(99);
  s.expect_none(outlives->wait());
}
#endif

/// A sum that is under way.
class sum_in_flight {
 public:
  sum_in_flight(MPI_Comm comm, int n, int call, memory_kinds k)
      : n_(n),
        call_(call),
        send_(k.send, static_cast<std::size_t>(n) * sizeof(int)),
        receive_(k.receive, static_cast<std::size_t>(n) * sizeof(int)) {
    int me = 0;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &ranks_);
    std::vector<int> v;
    for (int i = 0; i < n; ++i) v.push_back(value(me, i, call));
    const buffer& from = k.in_place ? receive_ : send_;
    copy(from.memory(), from.data(), v.data(), v.size() * sizeof(int));
    MPI_Iallreduce(k.in_place ? MPI_IN_PLACE : send_.data(), receive_.data(), n, MPI_INT, MPI_SUM,
                   comm, &request);
  }
  std::string wrong() { return wrong_sums(receive_, n_, ranks_, call_); }
  std::string wait() {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return wrong();
  }
  MPI_Request request = MPI_REQUEST_NULL;

 private:
  int n_, call_, ranks_ = 1;
  buffer send_, receive_;
};

/// Non-blocking sums, after a blocking one has held the vote: several in flight, of any memory.
inline void check_non_blocking(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  s.expect_none(checked_call(comm, call_kind::allreduce, 300, 0, {}).run());
  s.expect_none(sum_in_flight(comm, 4001, 1, {}).wait());
  if (const std::string path = last_path(); path != "coll_levels")
    s.fail("MPI_Iallreduce ran by %s", path.c_str());
  random_numbers own(s.opt.seed * 1000 + static_cast<std::uint64_t>(s.rank));
  for (int round = 0; round < 3; ++round) {
    s.note("non-blocking, round %d", round);
    std::vector<std::unique_ptr<sum_in_flight>> sums;
    std::vector<MPI_Request> requests;
    for (int i = 0; i < 4; ++i) {
      const auto any_kind = [&] {
        return round == 0 ? kind::device : kinds()[own.below(kinds().size())];
      };
      sums.push_back(std::make_unique<sum_in_flight>(
          comm, 700 * i + 5, 10 * round + i, memory_kinds{any_kind(), any_kind(), i % 3 == 2}));
      requests.push_back(sums.back()->request);
    }
    if (round == 1)  // a blocking one comes after them
      s.expect_none(checked_call(comm, call_kind::allreduce, 900, 7, {}).run());
    MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (auto& one : sums) s.expect_none(one->wrong());
  }
  MPI_Comm_free(&comm);
}

/// A rank blocks in the host MPI while its sums are under way. The others come to them only after
/// that, or need them to end before they meet it there.
inline void check_blocked(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  s.expect_none(checked_call(comm, call_kind::allreduce, 300, 0, {}).run());
  for (int call = 0; call < 8; ++call) {
    const bool early = s.rank == call % s.ranks;
    s.note("rank %d blocks early, call %d", call % s.ranks, call);
    if (call % 2 == 0 && !early) MPI_Barrier(s.control);
    sum_in_flight first(comm, 1500, call, {}), second(comm, 20, call + 1, {});
    if (early) MPI_Barrier(s.control);
    s.expect_none(first.wait());
    s.expect_none(second.wait());
    if (call % 2 == 1 && !early) MPI_Barrier(s.control);
  }
  MPI_Comm_free(&comm);
}

}  // namespace mpi_test
