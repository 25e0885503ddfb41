// SPDX-License-Identifier: BSD-3-Clause
// Receives of host memory that are the host MPI's alone while no ticket can come for them
// (ticket/plain_receives.hpp): that they are, how they end by every call, and how they give way
// once a sender of device memory wants to send tickets with their tags.
#include "plain.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

/// A window of host messages, all plain: 200 are more than the calls keep on their stack. With the
/// next device message of the class nothing of them may be left.
void window(suite& s, int tag, const waiter& wait) {
  constexpr int count = 200;
  const words w;
  if (s.rank == 0) {
    std::vector<buffer> to;
    std::vector<MPI_Request> requests(count);
    std::vector<MPI_Status> statuses(count);
    for (int i = 0; i < count; ++i) {
      to.emplace_back(kind::host, 8);
      to.back().clear();
      MPI_Irecv(to.back().data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(i)]);
    }
    s.expect(w.plain(tag) && !w.tickets(tag), "the class has plain receives");
    s.meet(1);
    wait(requests, statuses);
    for (std::size_t i = 0; i < count; ++i) {
      s.note("message %zu", i);
      s.expect(requests[i] == MPI_REQUEST_NULL, "the handle becomes null");
      s.expect_status(statuses[i], 1, tag, 8);
      s.expect_none(to[i].compare(i, 8));
    }
  } else if (s.rank == 1) {
    s.meet(0);
    for (std::size_t i = 0; i < count; ++i) {
      buffer from(kind::host, 8);
      from.fill(i);
      MPI_Send(from.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    }
  }
  expect_none_left(s, w, tag);
}

/// Messages from device memory reach plain receives as bytes, whatever the send's mode and size,
/// and the class has no plain receives from then on.
void from_a_device(suite& s, int tag) {
  const std::size_t sizes[] = {8, 479, 480, 70000, 3 << 20};
  const words w;
  constexpr std::size_t count = std::size(sizes);
  std::vector<buffer> all;
  std::vector<MPI_Request> requests(count);
  if (s.rank == 0) {
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(kind::host, sizes[i]);
      all[i].clear();
      MPI_Irecv(all[i].data(), as_int(sizes[i]), MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                &requests[i]);
    }
    s.expect(w.plain(tag), "the class has plain receives");
    s.meet(1);
    s.meet(1);  // all were sent
    s.expect(w.tickets(tag), "the sender wanted tickets");
    s.expect(w.plain(tag), "the class is plain while one is under way");
    MPI_Waitall(as_int(count), requests.data(), MPI_STATUSES_IGNORE);
    s.expect(!w.plain(tag), "the class is not plain any more");
    for (std::size_t i = 0; i < count; ++i) s.expect_none(all[i].compare(i, sizes[i]));
    // Host memory of the class takes tickets now.
    all.back().clear();
    MPI_Irecv(all.back().data(), as_int(sizes[count - 1]), MPI_BYTE, 1, tag, MPI_COMM_WORLD,
              &requests[0]);
    s.expect(!w.plain(tag), "the class stays so");
    s.meet(1);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    s.expect_none(all.back().compare(77, sizes[count - 1]));
  } else if (s.rank == 1) {
    s.meet(0);
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(kinds().back(), sizes[i]);
      all[i].fill(i);
      const auto send = i % 2 == 0 ? MPI_Isend : MPI_Issend;
      send(all[i].data(), as_int(sizes[i]), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &requests[i]);
    }
    s.meet(0);
    MPI_Waitall(as_int(count), requests.data(), MPI_STATUSES_IGNORE);
    all.back().fill(77);
    s.meet(0);
    MPI_Send(all.back().data(), as_int(sizes[count - 1]), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
}

/// A plain receive that never ends for long leaves other classes alone, and a ticket is safe from
/// it: both receives write to one place.
void one_that_stays(suite& s, int tag) {
  const words w;
  const int other = tag + 1;
  buffer b(s.rank == 1 ? kinds().back() : kind::host, bytes);
  b.clear();
  MPI_Request stays, comes;
  if (s.rank == 0) {
    // `other` has tickets.
    MPI_Irecv(b.data(), as_int(bytes), MPI_BYTE, 1, other, MPI_COMM_WORLD, &comes);
    s.meet(1);
    MPI_Wait(&comes, MPI_STATUS_IGNORE);
    MPI_Irecv(b.data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &stays);
    s.expect(w.plain(tag) && w.tickets(other) && !w.plain(other), "one class of each kind");
    MPI_Irecv(b.data(), as_int(bytes), MPI_BYTE, 1, other, MPI_COMM_WORLD, &comes);
    s.meet(1);
    s.meet(1);  // the ticket and then bytes were sent; both have come before either is waited for
    MPI_Wait(&stays, MPI_STATUS_IGNORE);
    MPI_Status status;
    MPI_Wait(&comes, &status);
    s.expect_status(status, 1, other, bytes);
  } else if (s.rank == 1) {
    s.meet(0);
    MPI_Send(b.data(), as_int(bytes), MPI_BYTE, 0, other, MPI_COMM_WORLD);
    s.meet(0);
    MPI_Request first;
    MPI_Isend(b.data(), as_int(bytes), MPI_BYTE, 0, other, MPI_COMM_WORLD, &first);
    buffer host(kind::host, bytes);
    MPI_Request second;
    MPI_Isend(host.data(), as_int(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD, &second);
    s.meet(0);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
  }
}

/// Cancelled ones are gone. Of one that the program frees the message still comes; until then its
/// class has no tickets.
void cancelled_and_freed(suite& s, int tag) {
  const words w;
  buffer b(kind::host, 8);
  b.clear();
  if (s.rank == 0) {
    MPI_Request r;
    MPI_Irecv(b.data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
    expect_cancelled(s, r);
    MPI_Irecv(b.data(), 8, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    s.expect(r == MPI_REQUEST_NULL, "the handle becomes null");
    buffer device(kinds().back(), bytes);
    device.clear();
    MPI_Irecv(device.data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
    s.expect(w.plain(tag), "the freed receive is still there");
    s.meet(1);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    s.expect_none(device.compare(4, bytes));
    // The freed one is looked at in each call, and the class ends with the next device receive.
    while (w.plain(tag)) {
      MPI_Irecv(device.data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &r);
      MPI_Cancel(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    s.expect_none(b.compare(3, 8));
  } else if (s.rank == 1) {
    s.meet(0);
    b.fill(3);
    MPI_Send(b.data(), 8, MPI_BYTE, 0, tag, MPI_COMM_WORLD);
    buffer device(kinds().back(), bytes);
    device.fill(4);
    MPI_Send(device.data(), as_int(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
}

/// MPI_Sendrecv_replace of host memory is the host MPI's own until the other side has device memory
/// there, but not with threads.
void replace(suite& s, int tag) {
  const words w;
  buffer host(kind::host, bytes), device(kinds().back(), bytes);
  for (std::uint64_t round = 0; s.rank < 2 && round < 4; ++round) {
    const auto mine = static_cast<std::uint64_t>(s.rank), other = 1 - mine;
    buffer& b = s.rank == 1 && round > 0 ? device : host;
    b.clear();
    b.fill(2 * round + mine);
    MPI_Status status;
    MPI_Sendrecv_replace(b.data(), as_int(bytes), MPI_BYTE, as_int(other), tag, as_int(other), tag,
                         MPI_COMM_WORLD, &status);
    s.note("round %d", static_cast<int>(round));
    s.expect_status(status, as_int(other), tag, bytes);
    s.expect_none(b.compare(2 * round + other, bytes));
    if (s.rank == 0 && round == 0 && thread_level() == MPI_THREAD_SINGLE)
      s.expect(w.plain(tag), "it was plain");
    if (s.rank == 0 && round == 3) s.expect(!w.plain(tag) && w.tickets(tag), "it is not any more");
    s.meet(as_int(other));  // the next round's sender ends what this one has looked at
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, thread_level());
  int tag = 10;  // one class for each case
  for (const auto& c : completing_calls) s.run(c.name, [&] { window(s, tag++, c.wait); });
  s.run("from a device", [&] { from_a_device(s, tag++); });
  s.run("one that stays", [&] { one_that_stays(s, tag++); });
  ++tag;
  s.run("cancelled and freed", [&] { cancelled_and_freed(s, tag++); });
  s.run("replace", [&] { replace(s, tag++); });
  return s.finish();
}
