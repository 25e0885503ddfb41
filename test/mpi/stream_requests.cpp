// SPDX-License-Identifier: BSD-3-Clause
// telpher_isend_enqueue and telpher_irecv_enqueue of small messages, which go through an inbox:
// their requests are waited for in their stream, in another one, or by MPI's own calls, before and
// after the message comes; some are freed, and some waits cannot be launched.
#include "emulated.hpp"
#include "inbox_ends.hpp"

using namespace mpi_test;

namespace {

void isend(const bytes& data, std::size_t from, int n, const ends& e, int tag, MPI_Request* r,
           void* stream) {
  STREAM_CALL(telpher_isend_enqueue)
  (data.data() + from, n, MPI_BYTE, e.peer, tag, e.comm, r, stream);
}
void irecv(const bytes& data, std::size_t from, int n, const ends& e, int tag, MPI_Request* r,
           void* stream) {
  STREAM_CALL(telpher_irecv_enqueue)
  (data.data() + from, n, MPI_BYTE, e.peer, tag, e.comm, r, stream);
}
int wait_all(std::vector<MPI_Request>& all, MPI_Status* statuses, void* stream) {
  return STREAM_CALL(telpher_waitall_enqueue)(static_cast<int>(all.size()), all.data(), statuses,
                                              stream);
}

void faces(suite& s, int n, int count, int rounds) {
  exchange_faces(s, n, count, rounds, [&](const ends& e, const bytes& out, const bytes& in) {
    return [&, n, count](MPI_Status* statuses, void* stream) {
      std::vector<MPI_Request> r(2 * static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i)
        irecv(in, static_cast<std::size_t>(i * n), n, e, i, &r[static_cast<std::size_t>(i)],
              stream);
      for (int i = count; i-- > 0;)
        isend(out, static_cast<std::size_t>(i * n), n, e, i,
              &r[static_cast<std::size_t>(count + i)], stream);
      wait_all(r, statuses, stream);
      for (const MPI_Request& one : r) s.expect(one == MPI_REQUEST_NULL, "a request is null");
    };
  });
}

/// MPI's own calls complete such requests: `early` before the stream gets there, else after it.
void ordinary_waits(suite& s, bool early) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 200, kinds = 4;
  bytes data(n, 0), before(n, 0);
  for (int kind = 0; kind < kinds; ++kind) {
    s.note("kind %d", kind);
    const test_stream stream;
    gate g;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Status status{};
    if (early) g.hold(stream);
    data.set(3);
    if (e.sends) {
      stream.set(data.data(), sent_byte(kind, s.rank), n);
      isend(data, 0, n, e, kind, &r, stream);
    } else {
      stream.copy(before.data(), data.data(), n);
      irecv(data, 0, n, e, kind, &r, stream);
    }
    int done = 0, index = 0;
    if (early) {
      MPI_Test(&r, &done, &status);
      s.expect(!done, "not over before the stream is there");
      g.open();
    } else {
      stream.wait();
    }
    if (kind == 0) MPI_Wait(&r, &status);
    if (kind == 1) MPI_Waitall(1, &r, &status);
    if (kind == 2) MPI_Waitany(1, &r, &index, &status);
    while (kind == 3 && !done) MPI_Test(&r, &done, &status);
    s.expect(r == MPI_REQUEST_NULL, "the request is null");
    if (!e.sends) {
      s.expect_status(status, e.peer, kind, n);
      s.expect(before.all(3), "the buffer before the stream gets there");
      s.expect(data.all(sent_byte(kind, e.peer)), "the message");
    }
    stream.wait();
  }
}

/// A synchronous send ends once its receive was reached, with no wait for that.
void before_the_wait(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 300;
  bytes in(n, 0), out(n, 0), copy(n, 0);
  for (int round = 0; round < 3; ++round) {
    s.note("round %d", round);
    const test_stream stream;
    MPI_Request r;
    out.set(sent_byte(round, s.rank));
    irecv(in, 0, n, e, 1, &r, stream);
    MPI_Ssend(out.data(), n, MPI_BYTE, e.peer, 1, e.comm);
    MPI_Status status{};
    STREAM_CALL(telpher_wait_enqueue)(&r, &status, stream);
    stream.copy(copy.data(), in.data(), n);
    stream.wait();
    s.expect(copy.all(sent_byte(round, e.peer)), "the message");
    s.expect_status(status, e.peer, 1, n);
  }
}

/// Another stream waits. The receive's buffer is used by its own stream until that has reached it.
void another_stream(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 100;
  bytes in(n, 0), out(n, 0), before(n, 0), after(n, 0);
  for (int round = 0; round < 4; ++round) {
    s.note("round %d", round);
    const test_stream own, other;
    gate g;
    in.set(9);
    std::vector<MPI_Request> r(2);
    MPI_Status statuses[2]{};
    if (round % 2 == 0) g.hold(own);
    own.set(out.data(), sent_byte(round, s.rank), n);
    own.copy(before.data(), in.data(), n);
    irecv(in, 0, n, e, round, &r[0], own);
    isend(out, 0, n, e, round, &r[1], own);
    wait_all(r, statuses, other);
    other.copy(after.data(), in.data(), n);
    other.set(out.data(), 0, n);
    s.expect(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "the requests are null");
    std::this_thread::sleep_for(std::chrono::milliseconds(round == 0 ? 50 : 0));
    g.open();
    other.wait();
    own.wait();
    s.expect(before.all(9), "the buffer before its stream gets there");
    s.expect(after.all(sent_byte(round, e.peer)), "the message");
    s.expect_status(statuses[0], e.peer, round, n);
  }
}

/// The peer frees memory that this rank has open, and names new memory in its place, while a stream
/// here waits for what the program does later, with a receive behind it. Nothing may wait for that
/// device meanwhile.
void peer_frees(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 100, rounds = 3, large_bytes = 1 << 20;
  bytes data(n, 0), small(n, 0);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    const test_stream own, other;
    gate g;
    MPI_Request r = MPI_REQUEST_NULL;
    auto large = std::make_unique<bytes>(large_bytes, round + 1);
    for (int again = 0; again < 2; ++again) {
      if (e.sends)
        MPI_Send(large->data(), large_bytes, MPI_BYTE, e.peer, 3, e.comm);
      else
        MPI_Recv(large->data(), large_bytes, MPI_BYTE, e.peer, 3, e.comm, MPI_STATUS_IGNORE);
      if (again == 1) break;
      if (!e.sends) {
        g.hold(own);
        irecv(data, 0, n, e, round, &r, own);
      }
      s.meet(e.peer);
      if (!e.sends) continue;
      large = nullptr;
      large = std::make_unique<bytes>(large_bytes, round + 1);  // mostly at the same address
    }
    for (int message = 0; message < 4; ++message) {
      if (e.sends)
        send(small, n, e.peer, 50, e.comm, other);
      else
        receive(small, n, e.peer, 50, e.comm, other);
      other.wait();
      s.meet(e.peer);
    }
    g.open();
    if (e.sends) {
      own.set(data.data(), sent_byte(round, s.rank), n);
      isend(data, 0, n, e, round, &r, own);
    }
    STREAM_CALL(telpher_wait_enqueue)(&r, MPI_STATUS_IGNORE, own);
    own.wait();
    if (!e.sends) s.expect(data.all(sent_byte(round, e.peer)), "the message");
  }
}

/// Messages of one tag are matched in the order of the calls, with and without a request.
void order(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int messages = 90, n = 8;
  const test_stream stream;
  bytes data(n * messages, 0);
  std::vector<MPI_Request> open;
  for (int message = 0; message < messages; ++message) {
    s.note("message %d", message);
    const auto from = static_cast<std::size_t>(message * n);
    if (e.sends) {
      stream.set(data.data() + from, sent_byte(message, s.rank), n);
      if (message % 3 == 0) {
        send(data, n, e.peer, 1, e.comm, stream, from);
      } else {
        open.push_back(MPI_REQUEST_NULL);
        isend(data, from, n, e, 1, &open.back(), stream);
      }
    } else if (message % 5 == 0) {
      STREAM_CALL(telpher_recv_enqueue)
      (data.data() + from, n, MPI_BYTE, e.peer, 1, e.comm, MPI_STATUS_IGNORE, stream);
    } else {
      open.push_back(MPI_REQUEST_NULL);
      irecv(data, from, n, e, 1, &open.back(), stream);
    }
    if (open.size() < 40) continue;
    wait_all(open, MPI_STATUSES_IGNORE, stream);
    open.clear();
  }
  wait_all(open, MPI_STATUSES_IGNORE, stream);
  stream.wait();
  for (int message = 0; message < messages && !e.sends; ++message)
    s.expect(data.all(sent_byte(message, e.peer), static_cast<std::size_t>(message * n), n),
             "the order");
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
}

/// Requests that the program frees; a receive that the other rank answers only later.
void freed(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64;
  const test_stream stream;
  bytes data(2 * n, 0);
  MPI_Request r[2];
  for (int i = 0; i < 2; ++i) {
    const auto from = static_cast<std::size_t>(i * n);
    if (e.sends) stream.set(data.data() + from, sent_byte(i, s.rank), n);
    if (e.sends)
      isend(data, from, n, e, 1, &r[i], stream);
    else
      irecv(data, from, n, e, 1, &r[i], stream);
  }
  MPI_Request_free(&r[0]);
  STREAM_CALL(telpher_wait_enqueue)(&r[1], MPI_STATUS_IGNORE, stream);
  stream.wait();
  for (int looks = 0; !e.sends && looks < 5000 && !data.all(sent_byte(0, e.peer), 0, n); ++looks) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 9, e.comm, &flag, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (int i = 0; !e.sends && i < 2; ++i)
    s.expect(data.all(sent_byte(i, e.peer), static_cast<std::size_t>(i * n), n), "a message");
  s.meet(e.peer);
}

/// A message that is too long, for a wait in the stream and for MPI_Wait.
void truncated(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  bytes data(500, 7), after(500, 0);
  for (const bool by_stream : {true, false}) {
    MPI_Request r = MPI_REQUEST_NULL;
    if (e.sends) {
      send(data, 500, e.peer, 1, e.comm, stream);
      send(data, 500, e.peer, 2, e.comm, stream);
      stream.wait();
      s.expect_equal(e.status(stream), MPI_SUCCESS, "the sender's status");
      continue;
    }
    irecv(data, 0, 400, e, 1, &r, stream);
    int code = MPI_SUCCESS;
    if (by_stream)
      STREAM_CALL(telpher_wait_enqueue)(&r, MPI_STATUS_IGNORE, stream);
    else
      code = MPI_Wait(&r, MPI_STATUS_IGNORE);
    receive(after, 500, e.peer, 2, e.comm, stream);
    stream.wait();
    if (!by_stream) s.expect_class(code, MPI_ERR_TRUNCATE, "the wait's code");
    s.expect_class(e.status(stream), MPI_ERR_TRUNCATE, "the stream's status");
    s.expect(after.all(7), "the stream goes on");
  }
}

/// A wait that cannot be launched is refused, and the program has its requests still: it waits
/// again in the stream, or not there.
void no_launch(suite& s, bool in_stream) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0 || !goes_through_inbox()) return;
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64, count = 3;
  const test_stream stream;
  bytes data(n * count, 0);
  std::vector<MPI_Request> r(count);
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(i * n), at = static_cast<std::size_t>(i);
    if (e.sends) stream.set(data.data() + from, sent_byte(i, s.rank), n);
    if (e.sends)
      isend(data, from, n, e, i, &r[at], stream);
    else
      irecv(data, from, n, e, i, &r[at], stream);
  }
  if (e.sends) {
    wait_all(r, MPI_STATUSES_IGNORE, stream);
    stream.wait();
    return;
  }
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  set_faults("launch:1");  // the wait: the next one may be of the thread that moves messages
  const int code = wait_all(r, MPI_STATUSES_IGNORE, stream);
  set_faults("");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
  s.expect(code != MPI_SUCCESS, "the wait is refused");
  for (const MPI_Request& one : r) s.expect(one != MPI_REQUEST_NULL, "a request is there");
  if (in_stream)
    wait_all(r, MPI_STATUSES_IGNORE, stream);
  else
    MPI_Waitall(count, r.data(), MPI_STATUSES_IGNORE);
  stream.wait();
  for (int i = 0; i < count; ++i)
    s.expect(data.all(sent_byte(i, e.peer), static_cast<std::size_t>(i * n), n), "a message");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  run_faces(s, [&](int n, int count, int rounds) { faces(s, n, count, rounds); });
  s.run("MPI's waits", [&] { ordinary_waits(s, false); });
  s.run("MPI's waits/early", [&] { ordinary_waits(s, true); });
  s.run("before the wait", [&] { before_the_wait(s); });
  s.run("another stream", [&] { another_stream(s); });
  s.run("peer frees", [&] { peer_frees(s); });
  s.run("order", [&] { order(s); });
  s.run("freed", [&] { freed(s); });
  s.run("truncated", [&] { truncated(s); });
  s.run("no launch", [&] { no_launch(s, false); });
  s.run("no launch/again", [&] { no_launch(s, true); });
  return s.finish();
}
