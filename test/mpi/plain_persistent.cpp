// SPDX-License-Identifier: BSD-3-Clause
// Persistent receives of host memory, which are plain (plain.cpp) in some rounds and not in others;
// plain receives that end with errors.
#include "plain.hpp"
#include "returned_errors.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

/// Persistent receives are plain while messages come from host memory. Then some come from a
/// device: the first of them as bytes, for receives that are plain; the next starts are not.
void persistent(suite& s, int tag, const waiter& wait) {
  constexpr int count = 40, rounds = 5;
  const words w;
  const auto number = [](int round, int i) { return static_cast<std::uint64_t>(round * 100 + i); };
  if (s.rank == 0) {
    std::vector<buffer> to;
    std::vector<MPI_Request> requests(count);
    for (int i = 0; i < count; ++i) {
      to.emplace_back(kind::host, bytes);
      MPI_Recv_init(to.back().data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD,
                    &requests[static_cast<std::size_t>(i)]);
    }
    for (int round = 0; round < rounds; ++round) {
      for (buffer& b : to) b.clear();
      std::vector<MPI_Status> statuses(count);
      MPI_Startall(count, requests.data());
      if (round < 2) s.expect(w.plain(tag) && !w.tickets(tag), "the class has plain receives");
      s.meet(1);
      wait(requests, statuses);
      for (int i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        s.note("round %d, message %d", round, i);
        s.expect(requests[at] != MPI_REQUEST_NULL, "the handle stays");
        s.expect_status(statuses[at], 1, tag, bytes);
        s.expect_none(to[at].compare(number(round, i), bytes));
      }
    }
    s.expect(!w.plain(tag) && w.tickets(tag), "the class has tickets");
    for (MPI_Request& r : requests) MPI_Request_free(&r);
  } else if (s.rank == 1) {
    for (int round = 0; round < rounds; ++round) {
      s.meet(0);
      for (int i = 0; i < count; ++i) {
        buffer from(round >= 2 && i % 3 == 0 ? kinds().back() : kind::host, bytes);
        from.fill(number(round, i));
        MPI_Send(from.data(), as_int(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
      }
    }
  }
}

/// What may become of a started persistent receive but its end.
void persistent_ends(suite& s, int tag) {
  const words w;
  buffer b(kind::host, 8);
  b.clear();
  if (s.rank == 0) {
    MPI_Request r;
    MPI_Status status;
    int flag = 0;
    MPI_Recv_init(b.data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
    MPI_Test(&r, &flag, &status);
    s.expect(flag != 0, "one that was not started has ended");
    MPI_Start(&r);
    s.expect(w.plain(tag), "it is plain");
    MPI_Test(&r, &flag, &status);
    s.expect(flag == 0, "one that was started has not");
    expect_cancelled(s, r);
    MPI_Start(&r);
    s.meet(1);
    for (flag = 0; flag == 0;) MPI_Request_get_status(r, &flag, &status);
    s.expect_status(status, 1, tag, 8);
    MPI_Wait(&r, &status);
#ifdef OPEN_MPI  // MPICH 5.0 has ended it with MPI_Request_get_status
    s.expect_status(status, 1, tag, 8);
#endif
    s.expect_none(b.compare(1, 8));
    MPI_Start(&r);
    MPI_Request_free(&r);
    s.expect(r == MPI_REQUEST_NULL, "the handle becomes null");
    s.expect(w.plain(tag), "the freed receive is still there");
    s.meet(1);
    buffer device(kinds().back(), bytes);
    device.clear();
    MPI_Recv(device.data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    s.expect_none(device.compare(3, bytes));
    s.expect_none(b.compare(2, 8));  // it was sent before
  } else if (s.rank == 1) {
    for (std::uint64_t i : {1u, 2u}) {
      s.meet(0);
      b.fill(i);
      MPI_Send(b.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
    buffer device(kinds().back(), bytes);
    device.fill(3);
    MPI_Send(device.data(), as_int(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
}

/// Persistent receives of both kinds, and others of both kinds, in the calls on several requests.
/// Nothing of them is left behind then.
void mixed(suite& s, int tag, const waiter& wait) {
  constexpr int count = 6, rounds = 3;  // each third one is not plain
  const words w;
  const auto of_device = [](int i) { return i % 3 == 2; };
  const auto tag_of = [&](int i) { return of_device(i) ? with_tickets : tag; };
  const auto number = [](int round, int i) { return static_cast<std::uint64_t>(round * 100 + i); };
  std::vector<MPI_Request> kept;
  if (s.rank == 0) {
    std::vector<buffer> to;
    std::vector<MPI_Request> requests(count);
    for (int i = 0; i < count; ++i)
      to.emplace_back(of_device(i) ? kinds().back() : kind::host, bytes);
    const auto at = [](int i) { return static_cast<std::size_t>(i); };
    for (int i = 0; i < count / 2; ++i)
      MPI_Recv_init(to[at(i)].data(), as_int(bytes), MPI_BYTE, 1, tag_of(i), MPI_COMM_WORLD,
                    &requests[at(i)]);
    kept.assign(requests.begin(), requests.begin() + count / 2);
    for (int round = 0; round < rounds; ++round) {
      for (buffer& b : to) b.clear();
      MPI_Startall(count / 2, requests.data());
      for (int i = count / 2; i < count; ++i)
        MPI_Irecv(to[at(i)].data(), as_int(bytes), MPI_BYTE, 1, tag_of(i), MPI_COMM_WORLD,
                  &requests[at(i)]);
      s.expect(w.plain(tag) && !w.plain(with_tickets), "one class is plain");
      std::vector<MPI_Status> statuses(count);
      s.meet(1);
      wait(requests, statuses);
      for (int i = 0; i < count; ++i) {
        s.note("round %d, message %d", round, i);
        s.expect((requests[at(i)] == MPI_REQUEST_NULL) == (i >= count / 2),
                 "handles of persistent requests stay, others become null");
        s.expect_status(statuses[at(i)], 1, tag_of(i), bytes);
        s.expect_none(to[at(i)].compare(number(round, i), bytes));
      }
    }
  } else if (s.rank == 1) {
    for (int round = 0; round < rounds; ++round) {
      s.meet(0);
      for (int i = 0; i < count; ++i) {
        buffer from(of_device(i) ? kinds().back() : kind::host, bytes);
        from.fill(number(round, i));
        MPI_Send(from.data(), as_int(bytes), MPI_BYTE, 0, tag_of(i), MPI_COMM_WORLD);
      }
    }
  }
  expect_none_left(s, w, tag);
  for (MPI_Request& r : kept) MPI_Request_free(&r);
}

/// A plain receive that ends with an error has ended: tickets may come for its class.
void truncated(suite& s, int tag, bool persistent) {
  const words w;
  buffer b(kind::host, 16);
  const returned_errors returned;
  if (s.rank == 0) {
    for (const bool all : {false, true}) {
      MPI_Request r = MPI_REQUEST_NULL;
      MPI_Status status;
      if (persistent) {
        MPI_Recv_init(b.data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
        MPI_Start(&r);
      } else {
        MPI_Irecv(b.data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
      }
      s.expect(w.plain(tag), "it is plain");
      s.meet(1);
      const int rc = all ? MPI_Waitall(1, &r, &status) : MPI_Wait(&r, &status);
      s.expect(rc != MPI_SUCCESS, "the message is too long");
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
    }
  } else if (s.rank == 1) {
    for (int i = 0; i < 2; ++i) {
      s.meet(0);
      MPI_Send(b.data(), 16, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
  }
  expect_none_left(s, w, tag);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, thread_level());
  int tag = 10;  // one class for each case
  for (const auto& c : completing_calls) s.run(c.name, [&] { persistent(s, tag++, c.wait); });
  s.run("ends", [&] { persistent_ends(s, tag++); });
  for (const bool persistent : {false, true})
    s.run(persistent ? "truncated" : "truncated, not persistent",
          [&] { truncated(s, tag++, persistent); });
  for (const auto& c : completing_calls)
    s.run(std::string("mixed, ") + c.name, [&] { mixed(s, tag++, c.wait); });
  return s.finish();
}
