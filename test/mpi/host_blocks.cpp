// SPDX-License-Identifier: BSD-3-Clause
// Large messages from host memory to device memory of the same node. The first one comes as the
// host MPI brings it; then the receiver's hint makes senders announce such messages, and the bytes
// come in blocks. A host buffer that receives one of them ends that.
#include "paths.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t bytes = 3 << 20;

/// One message from rank 0 to the last rank, of its own contents; how the receiver says it came.
std::string one_message(suite& s, kind to, int number, std::size_t n = bytes) {
  const int last = s.ranks - 1;
  buffer b(s.rank == last ? to : kind::host, bytes);
  b.clear();
  if (s.rank == 0) {
    b.fill(static_cast<std::uint64_t>(number));
    MPI_Send(b.data(), as_int(n), MPI_BYTE, last, number, MPI_COMM_WORLD);
  } else if (s.rank == last) {
    MPI_Status status;
    MPI_Recv(b.data(), as_int(bytes), MPI_BYTE, 0, number, MPI_COMM_WORLD, &status);
    s.expect_status(status, 0, number, n);
    s.expect_none(b.compare(static_cast<std::uint64_t>(number), n));
  }
  MPI_Barrier(s.control);
  return s.rank == last ? last_path() : "";
}

void expect_path(suite& s, const std::string& path, const char* wanted) {
  if (s.rank == s.ranks - 1 && path != wanted)
    s.fail("it came by %s, not by %s", path.c_str(), wanted);
}

void check_hint(suite& s) {
  expect_path(s, one_message(s, kind::device, 1), "raw");
  expect_path(s, one_message(s, kind::device, 2), "staged");
  expect_path(s, one_message(s, kind::device, 3, 300001), "staged");
  expect_path(s, one_message(s, kind::device, 4, 5000), "raw");
  one_message(s, kind::host, 5);  // by blocks, and the last of them
  expect_path(s, one_message(s, kind::device, 6), "raw");
  expect_path(s, one_message(s, kind::device, 7), "staged");
}

/// Windows both ways at once, of all forms of a send, into all kinds of memory.
void check_windows(suite& s) {
  constexpr int window = 24;
  const int next = (s.rank + 1) % s.ranks, before = (s.rank + s.ranks - 1) % s.ranks;
  buffer out(kind::host, bytes);
  out.fill(static_cast<std::uint64_t>(s.rank));
  std::vector<buffer> in;
  for (int i = 0; i < window; ++i)
    in.emplace_back(
        i % 6 == 5 ? kinds()[static_cast<std::size_t>(i) % kinds().size()] : kind::device, bytes);
  for (int round = 0; round < 3; ++round) {
    std::vector<MPI_Request> requests(2 * window);
    const auto size = [&](int i) { return bytes - static_cast<std::size_t>(i * round) * 1001; };
    for (int i = 0; i < window; ++i) {
      in[static_cast<std::size_t>(i)].clear();
      MPI_Irecv(in[static_cast<std::size_t>(i)].data(), as_int(bytes), MPI_BYTE, before, i,
                MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
    for (int i = 0; i < window; ++i) {
      const auto send = i % 4 == 3 ? MPI_Issend : MPI_Isend;
      send(out.data(), as_int(size(i)), MPI_BYTE, next, i, MPI_COMM_WORLD,
           &requests[static_cast<std::size_t>(window + i)]);
    }
    std::vector<MPI_Status> statuses(requests.size());
    MPI_Waitall(as_int(requests.size()), requests.data(), statuses.data());
    for (int i = 0; i < window; ++i) {
      s.expect_status(statuses[static_cast<std::size_t>(i)], before, i, size(i));
      s.expect_none(
          in[static_cast<std::size_t>(i)].compare(static_cast<std::uint64_t>(before), size(i)));
    }
  }
}

/// The sender goes on without its receiver, and blocks in the host MPI: as any device send.
void check_late_receiver(suite& s) {
  one_message(s, kind::device, 10);
  const int last = s.ranks - 1;
  buffer b(s.rank == last ? kind::device : kind::host, bytes);
  b.clear();
  if (s.rank == 0) {
    MPI_Request request;
    b.fill(11);
    MPI_Isend(b.data(), as_int(bytes), MPI_BYTE, last, 11, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    if (s.rank == last) {
      MPI_Recv(b.data(), as_int(bytes), MPI_BYTE, 0, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.expect_none(b.compare(11, bytes));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  s.run("hint", [&] { check_hint(s); });
  s.run("windows", [&] { check_windows(s); });
  s.run("late receiver", [&] { check_late_receiver(s); });
  return s.finish();
}
