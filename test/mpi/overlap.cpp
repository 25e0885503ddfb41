// SPDX-License-Identifier: BSD-3-Clause
// Receives that share a place in host memory, as the windows of benchmarks do. What is there at the
// end is some message's bytes; but every message must end, with its own size. And a bell that is
// never heard: its ticket is found all the same.
#include <atomic>

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
  s.run("in part", [&] { overlap_in_part(s); });
  s.run("a lost ring", [&] { lost_ring(s); });
  return s.finish();
}
