// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "mpi_4.hpp"
#include "on_any_comm.hpp"
#include "session_parts.hpp"

namespace session_test {

using namespace mpi_test;

namespace {

/// A message to the next rank of a ring and one from the rank before, of bytes that tell the
/// sender.
struct round_trip {
  MPI_Comm comm;
  place p;
  int n;
  buffer out, in;
  std::string what;

  round_trip(MPI_Comm c, kind k, std::size_t bytes, const char* of)
      : comm(c),
        p(c),
        n(static_cast<int>(bytes)),
        out(k, bytes),
        in(k, bytes),
        what(std::string(of) + ", " + name(k) + ", " + std::to_string(bytes) + " bytes, ") {
    out.fill(static_cast<std::uint64_t>(p.rank + 1));
    in.clear();
  }
  void check(const char* form) {
    expect_none(in.compare(static_cast<std::uint64_t>(p.before() + 1), in.bytes()),
                (what + form).c_str());
    in.clear();
  }
  MPI_Request receive(int from) {
    MPI_Request r;
    MPI_Irecv(in.data(), n, MPI_BYTE, from, 1, comm, &r);
    return r;
  }
};

void blocking(round_trip& t) {
  MPI_Sendrecv(t.out.data(), t.n, MPI_BYTE, t.p.next(), 1, t.in.data(), t.n, MPI_BYTE, t.p.before(),
               1, t.comm, MPI_STATUS_IGNORE);
  t.check("MPI_Sendrecv");
  for (const auto send : {MPI_Send, MPI_Ssend, MPI_Rsend}) {
    MPI_Request r = t.receive(t.p.before());
    MPI_Barrier(t.comm);
    send(t.out.data(), t.n, MPI_BYTE, t.p.next(), 1, t.comm);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    t.check("MPI_Send, MPI_Ssend or MPI_Rsend");
  }
  copy(t.in.memory(), t.in.data(), t.out.data(), t.in.bytes());
  MPI_Sendrecv_replace(t.in.data(), t.n, MPI_BYTE, t.p.next(), 1, t.p.before(), 1, t.comm,
                       MPI_STATUS_IGNORE);
  t.check("MPI_Sendrecv_replace");
}

void nonblocking(round_trip& t) {
  for (const auto send : {MPI_Isend, MPI_Issend}) {
    MPI_Request both[2];
    send(t.out.data(), t.n, MPI_BYTE, t.p.next(), 1, t.comm, &both[0]);
    both[1] = t.receive(MPI_ANY_SOURCE);
    for (int done = 0; !done;) MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
    t.check("MPI_Isend or MPI_Issend to MPI_ANY_SOURCE");
  }
}

void persistent(round_trip& t) {
  MPI_Request both[2];
  MPI_Send_init(t.out.data(), t.n, MPI_BYTE, t.p.next(), 1, t.comm, &both[0]);
  MPI_Recv_init(t.in.data(), t.n, MPI_BYTE, t.p.before(), 1, t.comm, &both[1]);
  for (int i = 0; i < 3; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    t.check("MPI_Send_init");
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

void probed(round_trip& t) {
  MPI_Request sent;
  MPI_Status s;
  MPI_Message m;
  int bytes = 0;
  MPI_Isend(t.out.data(), t.n, MPI_BYTE, t.p.next(), 2, t.comm, &sent);
  MPI_Probe(t.p.before(), MPI_ANY_TAG, t.comm, &s);
  MPI_Get_count(&s, MPI_BYTE, &bytes);
  expect(bytes == t.n && s.MPI_TAG == 2, (t.what + "the probed size").c_str());
  MPI_Recv(t.in.data(), t.n, MPI_BYTE, s.MPI_SOURCE, 2, t.comm, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  t.check("MPI_Probe");
  MPI_Isend(t.out.data(), t.n, MPI_BYTE, t.p.next(), 3, t.comm, &sent);
  for (int there = 0; !there;) MPI_Improbe(MPI_ANY_SOURCE, 3, t.comm, &there, &m, &s);
  MPI_Mrecv(t.in.data(), t.n, MPI_BYTE, &m, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  t.check("MPI_Improbe");
}

// Every second run of 10 ints goes out, and comes back without gaps.
void derived(MPI_Comm comm, kind k, const char* what) {
  constexpr int blocks = 500, each = 10;
  const place p(comm);
  std::vector<int> wide(2 * blocks * each), packed;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    wide[i] = static_cast<int>(i) + p.rank * 100000;
    if (i / each % 2 == 0) packed.push_back(static_cast<int>(i) + p.before() * 100000);
  }
  buffer out(k, wide.size() * sizeof(int)), in(k, packed.size() * sizeof(int));
  out.write(reinterpret_cast<unsigned char*>(wide.data()), out.bytes());
  in.clear();
  MPI_Datatype gaps;
  MPI_Type_vector(blocks, each, 2 * each, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Sendrecv(out.data(), 1, gaps, p.next(), 4, in.data(), blocks * each, MPI_INT, p.before(), 4,
               comm, MPI_STATUS_IGNORE);
  MPI_Type_free(&gaps);
  expect_none(in.compare(reinterpret_cast<unsigned char*>(packed.data())),
              (std::string(what) + ", a vector").c_str());
}

void reductions(MPI_Comm comm, kind k, const char* what) {
  constexpr int n = 3000;
  const place p(comm);
  const std::vector<int> mine(n, p.rank + 1), sums(n, p.size * (p.size + 1) / 2);
  buffer out(k, n * sizeof(int)), in(k, n * sizeof(int));
  out.write(reinterpret_cast<const unsigned char*>(mine.data()), out.bytes());
  const auto check = [&](const char* call) {
    expect_none(in.compare(reinterpret_cast<const unsigned char*>(sums.data())),
                (std::string(what) + ", " + name(k) + ", " + call).c_str());
    in.clear();
  };
  in.clear();
  MPI_Allreduce(out.data(), in.data(), n, MPI_INT, MPI_SUM, comm);
  check("MPI_Allreduce");
  MPI_Request r;
  MPI_Iallreduce(out.data(), in.data(), n, MPI_INT, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  check("MPI_Iallreduce");
#if MPI_TEST_HAS_MPI_4
  MPI_Allreduce_init(out.data(), in.data(), n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    check("MPI_Allreduce_init");
  }
  MPI_Request_free(&r);
#endif
}

void movements(MPI_Comm comm, kind k, const char* what) {
  constexpr std::size_t bytes = 5000;
  const place p(comm);
  const auto ranks = static_cast<std::size_t>(p.size);
  const std::string of = std::string(what) + ", " + name(k);
  buffer one(k, bytes), all(k, bytes * ranks);
  one.fill(p.rank == p.size - 1 ? 7 : 8);
  MPI_Bcast(one.data(), bytes, MPI_BYTE, p.size - 1, comm);
  std::vector<unsigned char> wanted(bytes);
  write_pattern(7, wanted.data(), bytes);
  std::vector<unsigned char> got(bytes);
  copy(k, got.data(), one.data(), bytes);
  expect_none(difference(got.data(), wanted.data(), bytes, "content"),
              (of + ", MPI_Bcast").c_str());
  one.fill(static_cast<std::uint64_t>(p.rank + 1));
  all.clear();
  MPI_Allgather(one.data(), bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, comm);
  wanted.resize(bytes * ranks);
  for (std::size_t r = 0; r < ranks; ++r) write_pattern(r + 1, wanted.data() + r * bytes, bytes);
  expect_none(all.compare(wanted.data()), (of + ", MPI_Allgather").c_str());
}

// A window of host memory, with buffers of any kind.
void windows(MPI_Comm comm, kind k, const char* what) {
  constexpr std::size_t bytes = 20000;
  const place p(comm);
  buffer shown(kind::host, bytes), put(k, bytes), got(k, bytes);
  shown.clear();
  put.fill(static_cast<std::uint64_t>(p.rank + 1));
  got.clear();
  MPI_Win win;
  MPI_Win_create(shown.data(), bytes, 1, MPI_INFO_NULL, comm, &win);
  MPI_Win_fence(0, win);
  MPI_Put(put.data(), bytes, MPI_BYTE, p.next(), 0, bytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  MPI_Get(got.data(), bytes, MPI_BYTE, p.next(), 0, bytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
  const std::string of = std::string(what) + ", " + name(k);
  expect_none(shown.compare(static_cast<std::uint64_t>(p.before() + 1), bytes),
              (of + ", MPI_Put").c_str());
  expect_none(got.compare(static_cast<std::uint64_t>(p.rank + 1), bytes),
              (of + ", MPI_Get").c_str());
}

}  // namespace

void use(MPI_Comm comm, const char* what) {
  constexpr std::size_t all_kinds = 4;
  for (std::size_t i = 0; i < all_kinds; ++i) {
    const kind k = kinds()[std::min(i, kinds().size() - 1)];
    for (const std::size_t bytes : {8ul, 48ul, 3000ul, 400000ul}) {
      round_trip t(comm, k, bytes, what);
      blocking(t);
      nonblocking(t);
      persistent(t);
      probed(t);
    }
    derived(comm, k, what);
    reductions(comm, k, what);
    movements(comm, k, what);
    windows(comm, k, what);
    expect_none(on_any_comm::all(comm, k, host_has_partitions),
                (std::string(what) + ", " + name(k)).c_str());
  }
}

}  // namespace session_test
