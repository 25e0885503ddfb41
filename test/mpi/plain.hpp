// SPDX-License-Identifier: BSD-3-Clause
// What the tests of plain receives (ticket/plain_receives.hpp) share: what ranks say of their
// classes of tags, and the calls that complete requests.
#pragma once

#include <cstdlib>
#include <functional>
#include <vector>

#include "own_segment.hpp"
#include "suite.hpp"

namespace mpi_test {

using telpher::path::tag_class;

constexpr std::size_t bytes = 70000;  // more than goes eagerly

constexpr int with_tickets = 0;  // a tag whose class has no plain receives

/// What this rank and its senders have said of a tag's class. Between nodes nothing is said.
struct words {
  telpher::path::segment_header* header = own_segment();
  ~words() {
    if (header != nullptr) munmap(header, 4096);
  }
  bool plain(int tag) const { return (header->plain_tags.load() & tag_class(tag)) != 0; }
  bool tickets(int tag) const { return (header->ticket_tags.load() & tag_class(tag)) != 0; }
};

using waiter = std::function<void(std::vector<MPI_Request>&, std::vector<MPI_Status>&)>;

inline void by_wait(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  for (std::size_t i = r.size(); i-- > 0;) MPI_Wait(&r[i], &st[i]);
}
inline void by_test(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  for (std::size_t i = 0; i < r.size(); ++i)
    for (int flag = 0; flag == 0;) MPI_Test(&r[i], &flag, &st[i]);
}
inline void by_waitall(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  MPI_Waitall(as_int(r.size()), r.data(), st.data());
}
inline void by_testall(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  for (int flag = 0; flag == 0;) MPI_Testall(as_int(r.size()), r.data(), &flag, st.data());
}
inline void by_waitany(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  for (std::size_t n = r.size(); n > 0; --n) {
    MPI_Status one;
    int index = -1;
    MPI_Waitany(as_int(r.size()), r.data(), &index, &one);
    st[static_cast<std::size_t>(index)] = one;
  }
}
inline void by_testany(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  for (std::size_t n = r.size(); n > 0;) {
    MPI_Status one;
    int index = -1, flag = 0;
    MPI_Testany(as_int(r.size()), r.data(), &index, &flag, &one);
    if (flag == 0) continue;
    st[static_cast<std::size_t>(index)] = one;
    --n;
  }
}
template <class Call>
inline void by_some(const Call& call, std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  std::vector<MPI_Status> some(r.size());
  std::vector<int> indices(r.size());
  for (std::size_t left = r.size(); left > 0;) {
    int n = 0;
    call(as_int(r.size()), r.data(), &n, indices.data(), some.data());
    for (int i = 0; i < n; ++i)
      st[static_cast<std::size_t>(indices[static_cast<std::size_t>(i)])] =
          some[static_cast<std::size_t>(i)];
    left -= static_cast<std::size_t>(n);
  }
}
inline void by_waitsome(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  by_some(MPI_Waitsome, r, st);
}
inline void by_testsome(std::vector<MPI_Request>& r, std::vector<MPI_Status>& st) {
  by_some(MPI_Testsome, r, st);
}

/// A message of device memory of this tag's class, from rank 1 to rank 0, which first sees that the
/// class has no plain receives any more: nothing is left of those before.
inline void expect_none_left(suite& s, const words& w, int tag) {
  buffer device(kinds().back(), bytes);
  if (s.rank == 0) {
    device.clear();
    MPI_Request request;
    MPI_Irecv(device.data(), as_int(bytes), MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
    s.expect(!w.plain(tag), "a receive of device memory ends the class");
    s.meet(1);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    s.expect(w.tickets(tag), "the message came by a ticket");
    s.expect_none(device.compare(9, bytes));
  } else if (s.rank == 1) {
    s.meet(0);
    device.fill(9);
    MPI_Send(device.data(), as_int(bytes), MPI_BYTE, 0, tag, MPI_COMM_WORLD);
  }
}

/// With TEST_THREADS in the environment the tests run with MPI_THREAD_MULTIPLE.
inline int thread_level() {
  return std::getenv("TEST_THREADS") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

struct completing_call {
  const char* name;
  waiter wait;
};
inline const completing_call completing_calls[] = {
    {"Wait", by_wait},         {"Test", by_test},        {"Waitall", by_waitall},
    {"Testall", by_testall},   {"Waitany", by_waitany},  {"Testany", by_testany},
    {"Waitsome", by_waitsome}, {"Testsome", by_testsome}};

inline void expect_cancelled(suite& s, MPI_Request& r) {
  MPI_Status status;
  int cancelled = 0;
  MPI_Cancel(&r);
  MPI_Wait(&r, &status);
  MPI_Test_cancelled(&status, &cancelled);
  s.expect(cancelled != 0, "the receive is cancelled");
}

}  // namespace mpi_test
