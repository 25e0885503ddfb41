// SPDX-License-Identifier: BSD-3-Clause
// Receives that share a place in host memory, as the windows of benchmarks do. What is there at the
// end is some message's bytes; but every message must end, with its own size. And a bell that is
// never heard: its ticket is found all the same.
#include <atomic>
#include <chrono>
#include <initializer_list>
#include <vector>

#include "own_segment.hpp"
#include "suite.hpp"

using namespace mpi_test;

namespace {

constexpr int window = 64;
constexpr std::size_t room = 300000;

/// The size of message i of a window.
using sizes = std::size_t (*)(int);
std::size_t alike(int) {
  return 70000;
}
std::size_t tickets_only(int) {
  return 480;
}
std::size_t unlike(int i) {
  return 100 + static_cast<std::size_t>(i * 7919) % (room - 100);
}

/// All ranks but the last send windows to the last, which receives all of them at one place. It
/// sleeps meanwhile, so that its host MPI finds many tickets at once.
void share_a_place(suite& s, kind from, kind to, sizes size_of, bool posted_first) {
  const int last = s.ranks - 1;
  buffer b(s.rank == last ? to : from, room);
  std::vector<MPI_Request> requests;
  const auto post = [&] {
    for (int i = 0; i < window; ++i)
      for (int r = 0; r < last; ++r) {
        requests.emplace_back();
        MPI_Irecv(b.data(), as_int(room), MPI_BYTE, r, 5, MPI_COMM_WORLD, &requests.back());
      }
  };
  b.clear();
  b.fill(7);
  if (s.rank == last && posted_first) post();
  MPI_Barrier(s.control);
  if (s.rank == last) {
    if (!posted_first) post();
    usleep(20000);
    std::vector<MPI_Status> statuses(requests.size());
    MPI_Waitall(as_int(requests.size()), requests.data(), statuses.data());
    for (std::size_t i = 0; i < statuses.size(); ++i)
      s.expect_status(statuses[i], as_int(i) % last, 5, size_of(as_int(i) / last));
    s.expect_none(b.compare(7, room));  // every message is a prefix of it
  } else {
    for (int i = 0; i < window; ++i) {
      requests.emplace_back();
      MPI_Isend(b.data(), as_int(size_of(i)), MPI_BYTE, last, 5, MPI_COMM_WORLD, &requests.back());
    }
    MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  }
}

/// From now on tickets may come for receives with these tags: none is the host MPI's alone.
void expect_tickets(suite& s, const buffer& from, std::initializer_list<int> tags) {
  const int last = s.ranks - 1;
  std::vector<unsigned char> to(room);
  for (const int tag : tags)
    if (s.rank == last)
      MPI_Recv(to.data(), as_int(room), MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (s.rank == 0)
      MPI_Send(from.data(), as_int(room), MPI_BYTE, last, tag, MPI_COMM_WORLD);
}

/// A message for the place where a ticket may come is written before that one is even sent; the
/// receiver hears of it while it looks for others.
void written_before(suite& s) {
  const int last = s.ranks - 1;
  buffer there(s.rank == last ? kind::host : kinds().back(), room), other(kinds().back(), room);
  buffer plain(kind::host, room);
  for (buffer* b : {&there, &other, &plain}) {
    b->clear();
    b->fill(7);
  }
  expect_tickets(s, there, {5, 6, 7});
  if (s.rank == last) {
    MPI_Request ticket, bytes, bell;
    MPI_Irecv(there.data(), as_int(room), MPI_BYTE, 0, 5, MPI_COMM_WORLD, &ticket);
    MPI_Irecv(there.data(), as_int(room), MPI_BYTE, 0, 6, MPI_COMM_WORLD, &bytes);
    MPI_Irecv(other.data(), as_int(room), MPI_BYTE, 0, 7, MPI_COMM_WORLD, &bell);
    s.meet(0);
    MPI_Status status;
    for (int i = 0, arrived = 0; i < 5000; ++i) {  // looks at all of them: the bell is heard
      MPI_Test(&ticket, &arrived, &status);
      if (arrived) s.fail("a message that was not sent has arrived");
    }
    MPI_Wait(&bell, &status);
    s.expect_status(status, 0, 7, room);
    MPI_Wait(&bytes, &status);
    s.expect_status(status, 0, 6, 1000);
    s.meet(0);
    MPI_Wait(&ticket, &status);
    s.expect_status(status, 0, 5, 70000);
    s.expect_none(there.compare(7, room));
  } else if (s.rank == 0) {
    s.meet(last);
    MPI_Send(plain.data(), 1000, MPI_BYTE, last, 6, MPI_COMM_WORLD);
    MPI_Send(other.data(), as_int(room), MPI_BYTE, last, 7, MPI_COMM_WORLD);
    s.meet(last);
    MPI_Send(there.data(), 70000, MPI_BYTE, last, 5, MPI_COMM_WORLD);
  }
}

/// A ticket that arrives at the moment at which another message's bytes are written in its place: a
/// little after that message, by a time that grows from round to round.
void written_meanwhile(suite& s) {
  const int last = s.ranks - 1;
  constexpr int rounds = 100, others = 600;
  buffer there(s.rank == last ? kind::host : kinds().back(), room);
  buffer plain(kind::host, room);
  for (buffer* b : {&there, &plain}) {
    b->clear();
    b->fill(7);
  }
  expect_tickets(s, there, {5, 6});
  for (int round = 0; round < rounds; ++round) {
    std::vector<MPI_Request> requests;
    const auto next = [&]() -> MPI_Request* { return &requests.emplace_back(); };
    if (s.rank == last) {
      MPI_Irecv(there.data(), as_int(room), MPI_BYTE, 0, 5, MPI_COMM_WORLD, next());
      for (int i = 0; i < others; ++i)
        MPI_Irecv(there.data(), as_int(room), MPI_BYTE, 0, 6, MPI_COMM_WORLD, next());
      s.meet(0);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      s.meet(0);
      std::vector<MPI_Status> statuses(requests.size());
      MPI_Waitall(as_int(requests.size()), requests.data(), statuses.data());
      s.expect_status(statuses[0], 0, 5, 70000);
    } else if (s.rank == 0) {
      s.meet(last);
      for (int i = 0; i < others; ++i) {
        MPI_Isend(plain.data(), 1000, MPI_BYTE, last, 6, MPI_COMM_WORLD, next());
        if (i > 0) continue;
        const auto sent = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - sent < std::chrono::nanoseconds(300 * round)) {
        }
        MPI_Isend(there.data(), 70000, MPI_BYTE, last, 5, MPI_COMM_WORLD, next());
        s.meet(last);
      }
      MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    }
  }
}

/// A type with gaps, several places that overlap in part, and receives that are cancelled.
void overlap_in_part(suite& s) {
  const int last = s.ranks - 1;
  constexpr std::size_t bytes = 60000;
  buffer b(s.rank == last ? kind::host : kinds().back(), room);
  b.clear();
  b.fill(7);
  MPI_Datatype gaps;
  MPI_Type_vector(as_int(bytes / 100), 100, 200, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Barrier(s.control);
  if (s.rank == last) {
    std::vector<MPI_Request> requests, never;
    for (int i = 0; i < window; ++i) {
      unsigned char* const at = b.data() + i * 997;
      if (i % 9 == 4) {
        never.emplace_back();
        MPI_Irecv(at, as_int(bytes), MPI_BYTE, 0, 99, MPI_COMM_WORLD, &never.back());
      }
      requests.emplace_back();
      if (i % 3 == 0)
        MPI_Irecv(at, 1, gaps, 0, 6, MPI_COMM_WORLD, &requests.back());
      else
        MPI_Irecv(at, as_int(bytes), MPI_BYTE, 0, 6, MPI_COMM_WORLD, &requests.back());
    }
    usleep(20000);
    for (MPI_Request& r : requests) {
      MPI_Status status;
      MPI_Wait(&r, &status);
      s.expect_status(status, 0, 6, bytes);
    }
    for (MPI_Request& r : never) {
      MPI_Cancel(&r);
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
  } else if (s.rank == 0) {
    std::vector<MPI_Request> requests(window);
    for (MPI_Request& r : requests)
      MPI_Isend(b.data(), as_int(bytes), MPI_BYTE, last, 6, MPI_COMM_WORLD, &r);
    MPI_Waitall(window, requests.data(), MPI_STATUSES_IGNORE);
  }
  MPI_Type_free(&gaps);
}

/// The ring for a ticket is taken back before it is heard. The receiver waits for another message,
/// which the sender sends only when the first has arrived.
void lost_ring(suite& s) {
  buffer b(kinds().back(), room);
  if (s.rank == 0) {
    MPI_Request request;
    MPI_Isend(b.data(), as_int(room), MPI_BYTE, 1, 8, MPI_COMM_WORLD, &request);
    s.meet(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
  } else if (s.rank == 1) {
    s.meet(0);
    telpher::path::segment_header* const header = own_segment();
    if (header != nullptr) header->common_doorbell.fetch_sub(1);
    MPI_Request first, second;
    MPI_Irecv(b.data(), as_int(room), MPI_BYTE, 0, 8, MPI_COMM_WORLD, &first);
    MPI_Irecv(nullptr, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD, &second);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Wait(&first, MPI_STATUS_IGNORE);
    if (header != nullptr) {
      header->common_doorbell.fetch_add(1);
      munmap(header, 4096);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const struct {
    const char* name;
    sizes size_of;
  } windows[] = {{"alike", alike}, {"tickets", tickets_only}, {"unlike", unlike}};
  for (const auto& w : windows)
    for (kind from : {kinds().back(), kind::host})
      for (const bool posted_first : {true, false}) {
        const std::string label =
            std::string(w.name) + ", from " + name(from) + (posted_first ? ", posted first" : "");
        s.run(label, [&] { share_a_place(s, from, kind::host, w.size_of, posted_first); });
      }
  s.run("to a device", [&] { share_a_place(s, kinds().back(), kinds().back(), alike, true); });
  s.run("written before", [&] { written_before(s); });
  s.run("written meanwhile", [&] { written_meanwhile(s); });
  s.run("in part", [&] { overlap_in_part(s); });
  s.run("a lost ring", [&] { lost_ring(s); });
  return s.finish();
}
