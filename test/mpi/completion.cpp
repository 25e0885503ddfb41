// SPDX-License-Identifier: BSD-3-Clause
// Every call that completes, tests, cancels or frees requests, on arrays that mix sends and
// receives of all kinds of memory with null and inactive requests. Errors are in
// completion_errors.cpp.
#include <functional>

#include "mixed_array.hpp"

// The forms of MPI_Request_get_status for arrays came with MPI 4.1.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define MPI_TEST_HAS_GET_STATUS_ALL 1
#else
#define MPI_TEST_HAS_GET_STATUS_ALL 0
#endif

using namespace mpi_test;

namespace {

using completer = std::function<void(suite&, mixed_array&, bool)>;

void by_wait(suite& s, mixed_array& a, bool statuses) {
  for (std::size_t i = slots; i-- > 0;) {
    MPI_Status status;
    MPI_Wait(&a.requests[i], statuses ? &status : MPI_STATUS_IGNORE);
    if (a.active(i))
      a.check(s, i, statuses ? &status : nullptr);
    else if (statuses)
      s.expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  }
}

void by_test(suite& s, mixed_array& a, bool statuses) {
  std::vector<bool> done(slots, false);
  for (std::size_t left = slots; left > 0;)
    for (std::size_t i = 0; i < slots; ++i) {
      if (done[i]) continue;
      MPI_Status status;
      int flag = 0;
      MPI_Test(&a.requests[i], &flag, statuses ? &status : MPI_STATUS_IGNORE);
      if (flag == 0) continue;
      done[i] = true;
      --left;
      if (a.active(i)) a.check(s, i, statuses ? &status : nullptr);
    }
}

void by_waitall(suite& s, mixed_array& a, bool statuses) {
  std::vector<MPI_Status> list(slots);
  MPI_Waitall(as_int(slots), a.requests.data(), statuses ? list.data() : MPI_STATUSES_IGNORE);
  a.check_all(s, statuses ? list.data() : nullptr);
}

void by_testall(suite& s, mixed_array& a, bool statuses) {
  std::vector<MPI_Status> list(slots);
  int flag = 0;
  while (flag == 0)
    MPI_Testall(as_int(slots), a.requests.data(), &flag,
                statuses ? list.data() : MPI_STATUSES_IGNORE);
  a.check_all(s, statuses ? list.data() : nullptr);
}

void by_any(suite& s, mixed_array& a, bool statuses, bool waits) {
  for (std::size_t left = a.active_count(); left > 0; --left) {
    MPI_Status status;
    MPI_Status* const out = statuses ? &status : MPI_STATUS_IGNORE;
    int index = MPI_UNDEFINED, flag = 0;
    if (waits)
      MPI_Waitany(as_int(slots), a.requests.data(), &index, out);
    else
      while (flag == 0) MPI_Testany(as_int(slots), a.requests.data(), &index, &flag, out);
    if (!s.expect(index != MPI_UNDEFINED, "an index while requests are active")) return;
    a.check(s, static_cast<std::size_t>(index), statuses ? &status : nullptr);
  }
  int index = 0, flag = 0;
  MPI_Status status;
  if (waits)
    MPI_Waitany(as_int(slots), a.requests.data(), &index, &status);
  else
    MPI_Testany(as_int(slots), a.requests.data(), &index, &flag, &status);
  s.note("no active request left");
  s.expect(waits || flag != 0, "the flag without active requests is true");
  s.expect_equal(index, MPI_UNDEFINED, "index");
  s.expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

void by_some(suite& s, mixed_array& a, bool statuses, bool waits) {
  std::vector<MPI_Status> list(slots);
  std::vector<int> indices(slots);
  const auto call = waits ? MPI_Waitsome : MPI_Testsome;
  MPI_Status* const out = statuses ? list.data() : MPI_STATUSES_IGNORE;
  for (std::size_t left = a.active_count(); left > 0;) {
    int count = 0;
    call(as_int(slots), a.requests.data(), &count, indices.data(), out);
    if (!s.expect(count != MPI_UNDEFINED && (count > 0 || !waits) && count <= as_int(left),
                  "count"))
      return;
    for (int i = 0; i < count; ++i)
      a.check(s, static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]),
              statuses ? &list[static_cast<std::size_t>(i)] : nullptr);
    left -= static_cast<std::size_t>(count);
  }
  int count = 0;
  call(as_int(slots), a.requests.data(), &count, indices.data(), out);
  s.expect_equal(count, MPI_UNDEFINED, "count without active requests");
}

/// Request_get_status leaves the request as it is, however often it says true.
void by_get_status(suite& s, mixed_array& a, bool) {
  for (std::size_t i = 0; i < slots; ++i) {
    MPI_Status status;
    for (int round = 0; round < 2; ++round) {
      int flag = 0;
      while (flag == 0) MPI_Request_get_status(a.requests[i], &flag, &status);
      if (a.active(i)) a.check(s, i, &status, false);
    }
    MPI_Wait(&a.requests[i], &status);
    if (a.active(i)) a.check(s, i, &status);
  }
}

#if MPI_TEST_HAS_GET_STATUS_ALL
void by_get_status_arrays(suite& s, mixed_array& a, bool statuses) {
  std::vector<MPI_Status> list(slots);
  MPI_Status* const out = statuses ? list.data() : MPI_STATUSES_IGNORE;
  MPI_Status status;
  int flag = 0, index = MPI_UNDEFINED, count = 0;
  std::vector<int> indices(slots);
  while (flag == 0)
    MPI_Request_get_status_any(as_int(slots), a.requests.data(), &index, &flag, &status);
  if (s.expect(index != MPI_UNDEFINED, "an index while requests are active"))
    a.check(s, static_cast<std::size_t>(index), &status, false);
  while (count < as_int(a.active_count())) {
    MPI_Request_get_status_some(as_int(slots), a.requests.data(), &count, indices.data(), out);
    if (!s.expect(count != MPI_UNDEFINED, "a count while requests are active")) return;
    // MPICH 5.0.2 makes no progress here once some request is complete.
    if (s.mpich) MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < count; ++i)
    a.check(s, static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]),
            statuses ? &list[static_cast<std::size_t>(i)] : nullptr, false);
  for (flag = 0; flag == 0;)
    MPI_Request_get_status_all(as_int(slots), a.requests.data(), &flag, out);
  for (std::size_t i = 0; i < slots; ++i)
    if (a.active(i)) a.check(s, i, statuses ? &list[i] : nullptr, false);
  by_waitall(s, a, statuses);
}
#endif

void complete(suite& s, const completer& how) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  mixed_array a(s, peer);
  for (bool statuses : {true, false})
    for (bool late : {false, true}) {  // late: the peer's messages are there before the call
      s.note("statuses %d, late %d", statuses, late);
      a.start();
      if (late) s.meet(peer);
      how(s, a, statuses);
      a.free_inactive();
    }
}

/// Empty arrays and arrays of nulls.
void nothing_active(suite& s) {
  MPI_Request nulls[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int flag = 0, index = 0, count = 0, indices[3];
  MPI_Waitall(0, nulls, MPI_STATUSES_IGNORE);
  MPI_Waitall(3, nulls, MPI_STATUSES_IGNORE);
  MPI_Testall(3, nulls, &flag, MPI_STATUSES_IGNORE);
  s.expect_equal(flag, 1, "Testall flag");
  MPI_Waitany(3, nulls, &index, MPI_STATUS_IGNORE);
  s.expect_equal(index, MPI_UNDEFINED, "Waitany index");
  MPI_Testsome(3, nulls, &count, indices, MPI_STATUSES_IGNORE);
  s.expect_equal(count, MPI_UNDEFINED, "Testsome count");
  MPI_Status status;
  MPI_Test(&nulls[0], &flag, &status);
  s.expect_equal(flag, 1, "Test flag");
  s.expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

#if MPI_TEST_HAS_GET_STATUS_ALL
/// An inactive persistent request beside a pending receive, then alone: it is never one that is
/// complete. Of host memory both are the host MPI's, of device memory ours.
void inactive_get_status(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind idle : kinds())
    for (kind pending : kinds()) {
      s.note("inactive %s, pending %s", name(idle), name(pending));
      buffer out(idle, 100), in(pending, 100);
      in.clear();
      MPI_Request requests[2];
      MPI_Status status, statuses[2];
      int flag = -1, index = -1, count = -1, indices[2];
      MPI_Send_init(out.data(), 100, MPI_BYTE, peer, 46, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(in.data(), 100, MPI_BYTE, peer, 47, MPI_COMM_WORLD, &requests[1]);
      MPI_Request_get_status_any(2, requests, &index, &flag, &status);
      s.expect_equal(flag, 0, "any: flag with a pending request");
      MPI_Request_get_status_some(2, requests, &count, indices, statuses);
      s.expect_equal(count, 0, "some: count with a pending request");
      s.meet(peer);
      out.fill(s.opt.seed);
      MPI_Send(out.data(), 100, MPI_BYTE, peer, 47, MPI_COMM_WORLD);
      for (flag = 0; flag == 0;) MPI_Request_get_status_any(2, requests, &index, &flag, &status);
      s.expect_equal(index, 1, "any: index");
      s.expect_status(status, peer, 47, 100);
      MPI_Request_get_status_some(2, requests, &count, indices, statuses);
      s.expect_equal(count, 1, "some: count");
      s.expect_equal(indices[0], 1, "some: index");
      s.expect_status(statuses[0], peer, 47, 100);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      s.expect_none(in.compare(s.opt.seed, 100));
      MPI_Request_get_status_any(2, requests, &index, &flag, &status);
      s.expect_equal(flag, 1, "any: flag without active requests");
      s.expect_equal(index, MPI_UNDEFINED, "any: index without active requests");
      s.expect_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
      MPI_Request_get_status_some(2, requests, &count, indices, statuses);
      s.expect_equal(count, MPI_UNDEFINED, "some: count without active requests");
      MPI_Request_free(&requests[0]);
    }
}
#endif

/// A receive that nobody serves can be cancelled; the buffer is left alone, later messages are not.
void cancelled_receives(suite& s) {
  for (kind k : kinds())
    for (bool persistent : {false, true}) {
      s.note("%s, persistent %d", name(k), persistent);
      buffer in(k, 5000);
      in.clear();
      MPI_Request request;
      if (persistent) {
        MPI_Recv_init(in.data(), 5000, MPI_BYTE, s.rank, 41, MPI_COMM_WORLD, &request);
        MPI_Start(&request);
      } else {
        MPI_Irecv(in.data(), 5000, MPI_BYTE, s.rank, 41, MPI_COMM_WORLD, &request);
      }
      MPI_Cancel(&request);
      MPI_Status status;
      int cancelled = 0;
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &cancelled);
      s.expect_equal(cancelled, 1, "cancelled");
      if (persistent) MPI_Request_free(&request);
      s.expect_none(in.compare(0, 0));
      buffer out(k, 5000);
      out.fill(s.opt.seed);
      MPI_Sendrecv(out.data(), 5000, MPI_BYTE, s.rank, 41, in.data(), 5000, MPI_BYTE, s.rank, 41,
                   MPI_COMM_WORLD, &status);
      MPI_Test_cancelled(&status, &cancelled);
      s.expect_equal(cancelled, 0, "cancelled");
      s.expect_none(in.compare(s.opt.seed, 5000));
    }
}

/// Cancelling a send may or may not succeed. Either the receiver gets the message or the status
/// says cancelled, and never both; nothing hangs.
void cancelled_sends(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds())
    for (std::size_t bytes : {std::size_t{10}, std::size_t{480}, std::size_t{100000}}) {
      s.note("%zu bytes, %s", bytes, name(k));
      if (s.rank % 2 == 0) {
        buffer out(k, bytes);
        out.fill(s.opt.seed + bytes);
        MPI_Request request;
        MPI_Status status;
        int cancelled = 0;
        MPI_Issend(out.data(), as_int(bytes), MPI_BYTE, peer, 42, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        int done = 0;  // a send that was not cancelled completes with its receive
        MPI_Test(&request, &done, &status);
        if (done != 0) MPI_Test_cancelled(&status, &cancelled);
        MPI_Send(&cancelled, 1, MPI_INT, peer, 0, s.control);
        MPI_Wait(&request, done ? MPI_STATUS_IGNORE : &status);
        int finally = 0;
        MPI_Test_cancelled(&status, &finally);
        MPI_Send(&finally, 1, MPI_INT, peer, 0, s.control);
        continue;
      }
      int at_once = 0, finally = 0;
      MPI_Recv(&at_once, 1, MPI_INT, peer, 0, s.control, MPI_STATUS_IGNORE);
      buffer in(k, bytes);
      in.clear();
      MPI_Request request;
      MPI_Status status;
      MPI_Irecv(in.data(), as_int(bytes), MPI_BYTE, peer, 42, MPI_COMM_WORLD, &request);
      MPI_Recv(&finally, 1, MPI_INT, peer, 0, s.control, MPI_STATUS_IGNORE);
      s.expect(at_once <= finally, "a cancelled send stays cancelled");
      if (finally != 0) MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      if (finally == 0) s.expect_none(in.compare(s.opt.seed + bytes, bytes));
    }
}

/// Sends and receives whose requests are freed while they are active still happen.
void freed_requests(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  for (kind k : kinds())
    for (std::size_t bytes : {std::size_t{10}, std::size_t{480}, std::size_t{100000}}) {
      s.note("%zu bytes, %s", bytes, name(k));
      buffer out(k, bytes), in(k, bytes), freed_in(k, bytes);
      out.fill(s.opt.seed + bytes);
      in.clear();
      freed_in.clear();
      MPI_Request request;
      MPI_Irecv(freed_in.data(), as_int(bytes), MPI_BYTE, peer, 43, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      s.expect(request == MPI_REQUEST_NULL, "the freed handle becomes null");
      MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 43, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 44, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
      MPI_Recv(in.data(), as_int(bytes), MPI_BYTE, peer, 44, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      s.expect_none(in.compare(s.opt.seed + bytes, bytes));
      // The earlier message is there when a later, synchronous one of the same order has come back.
      MPI_Request later;
      MPI_Issend(nullptr, 0, MPI_BYTE, peer, 43, MPI_COMM_WORLD, &later);
      MPI_Recv(nullptr, 0, MPI_BYTE, peer, 43, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&later, MPI_STATUS_IGNORE);
      std::string problem;
      for (int attempt = 0; attempt < 200; ++attempt) {
        problem = freed_in.compare(s.opt.seed + bytes, bytes);
        if (problem.empty()) break;
        int flag = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 45, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
      }
      s.expect_none(problem);
      s.meet(peer);  // both sends have been received before the buffers go
    }
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2);
  const auto any = [](bool waits) {
    return [waits](suite& t, mixed_array& a, bool statuses) { by_any(t, a, statuses, waits); };
  };
  const auto some = [](bool waits) {
    return [waits](suite& t, mixed_array& a, bool statuses) { by_some(t, a, statuses, waits); };
  };
  const std::pair<const char*, completer> completers[] = {
    {"Wait", by_wait},
    {"Test", by_test},
    {"Waitall", by_waitall},
    {"Testall", by_testall},
    {"Waitany", any(true)},
    {"Testany", any(false)},
    {"Waitsome", some(true)},
    {"Testsome", some(false)},
    {"Request_get_status", by_get_status},
#if MPI_TEST_HAS_GET_STATUS_ALL
    {"Request_get_status of arrays", by_get_status_arrays},
#endif
  };
  for (const auto& [label, how] : completers) s.run(label, [&, &call = how] { complete(s, call); });
  s.run("nothing active", [&] { nothing_active(s); });
#if MPI_TEST_HAS_GET_STATUS_ALL
  s.run("inactive, Request_get_status", [&] { inactive_get_status(s); });
#endif
  s.run("cancelled receives", [&] { cancelled_receives(s); });
  s.run("cancelled sends", [&] { cancelled_sends(s); });
  s.run("freed requests", [&] { freed_requests(s); });
  return s.finish();
}
