// SPDX-License-Identifier: BSD-3-Clause
// Every call that completes, tests, cancels or frees requests, on arrays that mix sends and
// receives of all kinds of memory with null and inactive requests; and errors: truncation and what
// it leaves.
#include <functional>

#include "forms.hpp"

// The forms of MPI_Request_get_status for arrays came with MPI 4.1.
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define MPI_TEST_HAS_GET_STATUS_ALL 1
#else
#define MPI_TEST_HAS_GET_STATUS_ALL 0
#endif

using namespace mpi_test;

namespace {

constexpr std::size_t sizes[] = {0, 8, 480, 479, 3000, 70000};
constexpr std::size_t slots = 40;

/// The state of one round: an array in which receives, sends, null and inactive persistent requests
/// take turns, and what each must give.
struct mixed_array {
  enum class sort { send, receive, null, inactive };
  struct slot {
    sort what;
    std::size_t bytes;
    std::uint64_t id;
    int tag;
  };

  mixed_array(const suite& s, int peer_rank) : peer(peer_rank) {
    random_numbers random(s.opt.seed);
    for (std::size_t i = 0; i < slots; ++i) {
      static constexpr sort turn[] = {sort::receive, sort::send, sort::receive,
                                      sort::send,    sort::null, sort::inactive};
      const sort what = turn[i % std::size(turn)];
      const std::size_t bytes = sizes[random.below(std::size(sizes))];
      // A receive in slot i belongs to the peer's send in slot i + 1, and a send to the slot
      // before.
      const std::size_t pair = what == sort::send ? i - 1 : i;
      const std::size_t length = what == sort::send ? list[pair].bytes : bytes;
      const int sender = what == sort::send ? s.rank : peer;
      list.push_back({what, length, s.opt.seed + pair * 16 + static_cast<std::uint64_t>(sender),
                      as_int(pair)});
      buffers.emplace_back(kinds()[random.below(kinds().size())], length);
      requests.push_back(MPI_REQUEST_NULL);
    }
  }

  void start() {
    for (std::size_t i = 0; i < slots; ++i) {
      buffer& b = buffers[i];
      const slot& l = list[i];
      b.clear();
      if (l.what == sort::receive)
        MPI_Irecv(b.data(), as_int(l.bytes), MPI_BYTE, peer, l.tag, MPI_COMM_WORLD, &requests[i]);
      if (l.what == sort::inactive)
        MPI_Recv_init(b.data(), as_int(l.bytes), MPI_BYTE, peer, 999, MPI_COMM_WORLD, &requests[i]);
    }
    for (std::size_t i = 0; i < slots; ++i) {
      if (list[i].what != sort::send) continue;
      buffers[i].fill(list[i].id);
      MPI_Isend(buffers[i].data(), as_int(list[i].bytes), MPI_BYTE, peer, list[i].tag,
                MPI_COMM_WORLD, &requests[i]);
    }
  }

  bool active(std::size_t i) const {
    return list[i].what == sort::send || list[i].what == sort::receive;
  }
  std::size_t active_count() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < slots; ++i) n += active(i);
    return n;
  }

  /// Slot i was reported complete.
  void check(suite& s, std::size_t i, const MPI_Status* status, bool freed = true) {
    s.note("slot %zu, %s of %zu bytes, %s", i, list[i].what == sort::send ? "send" : "receive",
           list[i].bytes, name(buffers[i].memory()));
    if (!s.expect(active(i), "an inactive request was reported")) return;
    if (freed) s.expect(requests[i] == MPI_REQUEST_NULL, "the handle becomes null");
    if (list[i].what != sort::receive) return;
    if (status != nullptr) s.expect_status(*status, peer, list[i].tag, list[i].bytes);
    s.expect_none(buffers[i].compare(list[i].id, list[i].bytes));
  }

  /// Of calls that report all slots: inactive ones have the empty status.
  void check_all(suite& s, const MPI_Status* statuses, bool freed = true) {
    for (std::size_t i = 0; i < slots; ++i) {
      if (active(i)) {
        check(s, i, statuses == nullptr ? nullptr : &statuses[i], freed);
      } else if (statuses != nullptr) {
        s.note("slot %zu, inactive", i);
        s.expect_status(statuses[i], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
      }
    }
  }

  void free_inactive() {
    for (std::size_t i = 0; i < slots; ++i)
      if (list[i].what == sort::inactive) MPI_Request_free(&requests[i]);
  }

  int peer;
  std::vector<slot> list;
  std::vector<buffer> buffers;
  std::vector<MPI_Request> requests;
};

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

/// Errors are returned while the object lives, also those of calls without a communicator, which go
/// to the handler of MPI_COMM_WORLD or MPI_COMM_SELF.
class returned_errors {
 public:
  returned_errors() {
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before_);
    set(MPI_ERRORS_RETURN);
  }
  returned_errors(const returned_errors&) = delete;
  returned_errors& operator=(const returned_errors&) = delete;
  ~returned_errors() {
    set(before_);
    MPI_Errhandler_free(&before_);
  }

 private:
  static void set(MPI_Errhandler handler) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  }
  MPI_Errhandler before_;
};

/// Open MPI 5.0.11 writes the whole message into a buffer that is too small once it is larger than
/// its eager limit; what reaches it as bytes cannot be tested there.
bool overruns(const suite& s, kind from, std::size_t bytes) {
  if (s.mpich || bytes <= 4000) return false;
  const char* path = std::getenv("TELPHER_PATH");
  const bool raw = path != nullptr && std::strcmp(path, "raw") == 0;
  return from != kind::device || raw || bytes <= 8192;
}

/// Receives of host memory with this tag are the host MPI's own until a ticket wants to come, and
/// so are their errors. After this one has wanted to, in both directions.
void meet_a_ticket(int peer, int tag, MPI_Comm comm) {
  buffer out(kinds().back(), 70000), in(kinds().back(), 70000);
  MPI_Sendrecv(out.data(), 70000, MPI_BYTE, peer, tag, in.data(), 70000, MPI_BYTE, peer, tag, comm,
               MPI_STATUS_IGNORE);
}

/// A message larger than the receive: MPI_ERR_TRUNCATE, nothing behind the buffer touched, and the
/// messages round it as if nothing had happened.
void truncation(suite& s, receive_form f) {
  MPI_Comm comm;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank / 2, s.rank, &comm);
  if ((s.rank ^ 1) >= s.ranks) return static_cast<void>(MPI_Comm_free(&comm));
  const returned_errors returned;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int other = 1 - s.rank % 2;
  meet_a_ticket(other, 1, comm);
  constexpr std::size_t sent_sizes[] = {2, 8, 479, 480, 481, 3000, 5000, 100000, 300000};
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : sent_sizes) {
        if (overruns(s, from, bytes)) continue;
        // 40: not even a ticket's short form.
        const std::size_t room = bytes == 480 ? 479 : bytes == 100000 ? 40 : bytes / 2;
        s.note("%s to %s, %zu bytes into %zu", name(from), name(to), bytes, room);
        buffer out(from, bytes), in(to, room), after(to, bytes);
        out.fill(s.opt.seed + bytes);
        in.clear();
        after.clear();
        MPI_Request sends[2];
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &sends[0]);
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &sends[1]);
        MPI_Status status{};
        int code = MPI_SUCCESS;
        if (f == receive_form::recv) {
          code = MPI_Recv(in.data(), as_int(room), MPI_BYTE, other, 1, comm, &status);
        } else if (f == receive_form::irecv) {
          MPI_Request request;
          MPI_Irecv(in.data(), as_int(room), MPI_BYTE, other, 1, comm, &request);
          code = MPI_Wait(&request, &status);
          s.expect(request == MPI_REQUEST_NULL, "the handle becomes null");
        } else {
          MPI_Message message;
          MPI_Mprobe(other, 1, comm, &message, &status);
          s.expect_status(status, other, 1, bytes);
          code = MPI_Mrecv(in.data(), as_int(room), MPI_BYTE, &message, &status);
        }
        s.expect_class(code, MPI_ERR_TRUNCATE, "error class");
        // Whatever arrived must be a prefix; the guards must be whole.
        const std::string problem = in.compare(s.opt.seed + bytes, room);
        if (problem.compare(0, 5, "guard") == 0) s.expect_none(problem);
        code = MPI_Recv(after.data(), as_int(bytes), MPI_BYTE, other, 1, comm, &status);
        s.expect_class(code, MPI_SUCCESS, "the message behind");
        s.expect_status(status, other, 1, bytes);
        s.expect_none(after.compare(s.opt.seed + bytes, bytes));
        code = MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        if (!s.mpich) s.expect_class(code, MPI_SUCCESS, "the sends");
      }
  MPI_Comm_free(&comm);
}

/// MPI_Testall of a generalized request whose status cannot be had, and of a receive: both end, and
/// the error stands in the one's status.
void error_of_the_host(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const returned_errors returned;
  const auto failing_query = [](void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return static_cast<int>(MPI_ERR_OTHER);
  };
  const auto free = [](void*) { return static_cast<int>(MPI_SUCCESS); };
  const auto cancel = [](void*, int) { return static_cast<int>(MPI_SUCCESS); };
  meet_a_ticket(peer, 48, MPI_COMM_WORLD);
  for (kind k : kinds())
    for (bool statuses : {true, false}) {
      s.note("%s, statuses %d", name(k), statuses);
      buffer out(k, 3000), in(k, 3000);
      out.fill(s.opt.seed);
      in.clear();
      MPI_Request requests[2], sent;
      MPI_Status list[2];
      MPI_Grequest_start(failing_query, free, cancel, nullptr, &requests[0]);
      MPI_Grequest_complete(requests[0]);
      MPI_Irecv(in.data(), 3000, MPI_BYTE, peer, 48, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out.data(), 3000, MPI_BYTE, peer, 48, MPI_COMM_WORLD, &sent);
      int flag = 0, code = MPI_SUCCESS;
      while (flag == 0 && code == MPI_SUCCESS)
        code = MPI_Testall(2, requests, &flag, statuses ? list : MPI_STATUSES_IGNORE);
      s.expect_equal(flag, 1, "flag");
      s.expect(code != MPI_SUCCESS, "the error is returned");
      for (const MPI_Request& r : requests) s.expect(r == MPI_REQUEST_NULL, "the handle is null");
      if (statuses) {
        s.expect_class(code, MPI_ERR_IN_STATUS, "Testall");
        s.expect_class(list[0].MPI_ERROR, MPI_ERR_OTHER, "the generalized request");
        s.expect_class(list[1].MPI_ERROR, MPI_SUCCESS, "the receive");
        s.expect_status(list[1], peer, 48, 3000);
      }
      s.expect_none(in.compare(s.opt.seed, 3000));
      MPI_Wait(&sent, MPI_STATUS_IGNORE);
    }
}

/// A matched message is truncated in a communicator that returns errors: those of the others, which
/// end the job, are not asked.
void truncated_message(suite& s, bool blocks) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int peer = s.rank ^ 1;
  for (kind from : kinds())
    for (kind to : kinds())
      for (std::size_t bytes : {40, 3000, 300000}) {
        if (peer >= s.ranks || overruns(s, from, bytes)) continue;
        s.note("%s to %s, %zu bytes", name(from), name(to), bytes);
        buffer out(from, bytes), in(to, bytes / 2);
        out.fill(s.opt.seed);
        in.clear();
        MPI_Request sent, received;
        MPI_Message message;
        MPI_Isend(out.data(), as_int(bytes), MPI_BYTE, peer, 1, comm, &sent);
        MPI_Mprobe(peer, 1, comm, &message, MPI_STATUS_IGNORE);
        int code = MPI_SUCCESS;
        if (blocks) {
          code = MPI_Mrecv(in.data(), as_int(bytes / 2), MPI_BYTE, &message, MPI_STATUS_IGNORE);
        } else {
          code = MPI_Imrecv(in.data(), as_int(bytes / 2), MPI_BYTE, &message, &received);
          if (code == MPI_SUCCESS) code = MPI_Wait(&received, MPI_STATUS_IGNORE);
        }
        s.expect_class(code, MPI_ERR_TRUNCATE, "error class");
        MPI_Wait(&sent, MPI_STATUS_IGNORE);
      }
  MPI_Comm_free(&comm);
}

/// One of several receives is truncated: MPI_ERR_IN_STATUS, and each status says which.
void error_in_status(suite& s, bool some) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank / 2, s.rank, &pair);
  if ((s.rank ^ 1) >= s.ranks) return static_cast<void>(MPI_Comm_free(&pair));
  MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
  const returned_errors returned;
  const int other = 1 - s.rank % 2;
  for (int tag = 0; tag < 3; ++tag) meet_a_ticket(other, tag, pair);
  for (kind from : kinds())
    for (kind to : kinds()) {
      s.note("%s to %s", name(from), name(to));
      constexpr std::size_t bytes[3] = {5000, 3000, 480};
      constexpr std::size_t room[3] = {5000, 2000, 480};
      std::vector<buffer> out, in;
      MPI_Request receives[3], sends[3];
      MPI_Status statuses[3];
      for (std::size_t i = 0; i < 3; ++i) {
        out.emplace_back(from, bytes[i]);
        in.emplace_back(to, room[i]);
        out[i].fill(s.opt.seed + i);
        in[i].clear();
        MPI_Irecv(in[i].data(), as_int(room[i]), MPI_BYTE, other, as_int(i), pair, &receives[i]);
      }
      for (std::size_t i = 0; i < 3; ++i)
        MPI_Isend(out[i].data(), as_int(bytes[i]), MPI_BYTE, other, as_int(i), pair, &sends[i]);
      int errors[3] = {-1, -1, -1};
      int code = MPI_SUCCESS;
      if (some) {
        for (int left = 3; left > 0;) {
          int count = 0, indices[3];
          code = MPI_Waitsome(3, receives, &count, indices, statuses);
          if (count == MPI_UNDEFINED) break;
          for (int i = 0; i < count; ++i)
            errors[indices[i]] = code == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
          left -= count;
        }
      } else {
        code = MPI_Waitall(3, receives, statuses);
        s.expect_class(code, MPI_ERR_IN_STATUS, "Waitall");
        for (int i = 0; i < 3; ++i) errors[i] = statuses[i].MPI_ERROR;
        for (std::size_t i = 0; i < 3; ++i) {
          if (errors[i] != MPI_ERR_PENDING) continue;  // allowed: complete it on its own
          errors[i] = MPI_Wait(&receives[i], &statuses[i]);
        }
      }
      s.expect_class(errors[0], MPI_SUCCESS, "first receive");
      s.expect_class(errors[1], MPI_ERR_TRUNCATE, "truncated receive");
      s.expect_class(errors[2], MPI_SUCCESS, "third receive");
      s.expect_none(in[0].compare(s.opt.seed, bytes[0]));
      s.expect_none(in[2].compare(s.opt.seed + 2, bytes[2]));
      for (MPI_Request& r : sends) MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
  MPI_Comm_free(&pair);
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
  for (receive_form f : {receive_form::recv, receive_form::irecv, receive_form::mrecv})
    s.run(std::string("truncation ") + name(f), [&] { truncation(s, f); });
  for (bool blocks : {true, false})
    s.run(blocks ? "truncated message, Mrecv" : "truncated message, Imrecv",
          [&] { truncated_message(s, blocks); });
  s.run("error in status, Waitall", [&] { error_in_status(s, false); });
  s.run("error in status, Waitsome", [&] { error_in_status(s, true); });
  // Where no message is ever a ticket, receives of host memory and their errors are the host MPI's.
  const char* const path = std::getenv("TELPHER_PATH");
  if (!path || std::strcmp(path, "raw") != 0)
    s.run("error of the host, Testall", [&] { error_of_the_host(s); });
  return s.finish();
}
