// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests that are started in streams, of small messages, which go through an inbox:
// started all at once and one by one, waited for in their stream, in another one or by MPI's own
// calls, beside requests that cannot go that way, freed, started again too early, and where a
// launch fails.
#include "emulated.hpp"
#include "inbox_ends.hpp"

using namespace mpi_test;

namespace {

/// Persistent requests, freed at the end of a case.
class starts {
 public:
  ~starts() {
    for (MPI_Request& r : all)
      if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
  }
  void send(const void* data, int n, const ends& e, int tag) {
    MPI_Send_init(data, n, MPI_BYTE, e.peer, tag, e.comm, &add());
  }
  void receive(void* data, int n, const ends& e, int tag) {
    MPI_Recv_init(data, n, MPI_BYTE, e.peer, tag, e.comm, &add());
  }
  int start(void* stream) const {
    return STREAM_CALL(telpher_startall_enqueue)(count(), all.data(), stream);
  }
  int start_one(int i, void* stream) const {
    return STREAM_CALL(telpher_start_enqueue)(all[static_cast<std::size_t>(i)], stream);
  }
  void wait(MPI_Status* statuses, void* stream) {
    STREAM_CALL(telpher_waitall_enqueue)(count(), all.data(), statuses, stream);
  }
  void wait_one(int i, MPI_Status* status, void* stream) {
    STREAM_CALL(telpher_wait_enqueue)(&all[static_cast<std::size_t>(i)], status, stream);
  }
  int count() const { return static_cast<int>(all.size()); }

  std::vector<MPI_Request> all;

 private:
  MPI_Request& add() { return all.emplace_back(MPI_REQUEST_NULL); }
};

void faces(suite& s, int n, int count, int rounds, bool one_by_one = false) {
  exchange_faces(s, n, count, rounds, [&](const ends& e, const bytes& out, const bytes& in) {
    auto r = std::make_unique<starts>();
    for (int i = 0; i < count; ++i) r->receive(in.data() + i * n, n, e, i);
    for (int i = count; i-- > 0;) r->send(out.data() + i * n, n, e, i);
    return [&s, one_by_one, r = std::move(r)](MPI_Status* statuses, void* stream) {
      if (!one_by_one) {
        r->start(stream);
        r->wait(statuses, stream);
      } else {
        for (int i = 0; i < r->count(); ++i) r->start_one(i, stream);
        for (int i = 0; i < r->count(); ++i) r->wait_one(i, statuses + i, stream);
      }
      for (const MPI_Request& one : r->all) s.expect(one != MPI_REQUEST_NULL, "a request stays");
    };
  });
}

/// MPI's own calls complete what a stream has started, and start it the next time.
void ordinary_calls(suite& s, bool early) {
  if (!goes_through_inbox()) return;  // a start that waits for a turn may come after them
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 200, kinds = 4;
  bytes data(n, 0), before(n, 0);
  starts r;
  if (e.sends)
    r.send(data.data(), n, e, 1);
  else
    r.receive(data.data(), n, e, 1);
  MPI_Request& one = r.all[0];
  for (int kind = 0; kind < kinds; ++kind) {
    s.note("kind %d", kind);
    const test_stream stream;
    gate g;
    MPI_Status status{};
    data.set(3);
    if (early) g.hold(stream);
    if (e.sends)
      stream.set(data.data(), sent_byte(kind, s.rank), n);
    else
      stream.copy(before.data(), data.data(), n);
    r.start(stream);
    int done = 0, index = 0;
    if (early) {
      MPI_Test(&one, &done, &status);
      s.expect(!done, "not over before the stream is there");
      g.open();
    }
    stream.wait();
    if (kind == 0 && !done) MPI_Wait(&one, &status);
    if (kind == 1 && !done) MPI_Waitall(1, &one, &status);
    if (kind == 2 && !done) MPI_Waitany(1, &one, &index, &status);
    while (kind == 3 && !done) MPI_Test(&one, &done, &status);
    if (!e.sends) {
      s.expect_status(status, e.peer, 1, n);
      s.expect(before.all(3), "the buffer before the stream gets there");
      s.expect(data.all(sent_byte(kind, e.peer)), "the message");
    }
    data.set(e.sends ? sent_byte(kind + 50, s.rank) : 0);
    MPI_Start(&one);
    MPI_Wait(&one, &status);
    if (!e.sends) s.expect(data.all(sent_byte(kind + 50, e.peer)), "the message started by MPI");
  }
}

/// Another stream waits for what one has started.
void another_stream(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 100;
  bytes in(n, 0), out(n, 0), after(n, 0);
  starts r;
  r.receive(in.data(), n, e, 1);
  r.send(out.data(), n, e, 1);
  for (int round = 0; round < 4; ++round) {
    s.note("round %d", round);
    const test_stream own, other;
    MPI_Status statuses[2]{};
    own.set(out.data(), sent_byte(round, s.rank), n);
    r.start(own);
    own.wait();
    r.wait(statuses, other);
    other.copy(after.data(), in.data(), n);
    other.wait();
    s.expect(after.all(sent_byte(round, e.peer)), "the message");
    s.expect_status(statuses[0], e.peer, 1, n);
  }
}

/// Beside requests of host memory and of large messages: one call starts both kinds.
void mixed(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 300, large = 1500000, rounds = 30;
  const test_stream stream;
  bytes out(n, 0), in(n, 0), big_out(large, 0), big_in(large, 0);
  std::vector<unsigned char> host_out(n), host_in(n);
  bytes log(std::size_t{n} * rounds, 0), big_log(std::size_t{n} * rounds, 0);
  starts r;
  r.receive(in.data(), n, e, 1);
  r.send(out.data(), n, e, 1);
  r.receive(big_in.data(), large, e, 2);
  r.send(big_out.data(), large, e, 2);
  r.receive(host_in.data(), n, e, 3);
  r.send(host_out.data(), n, e, 3);
  std::fill(host_out.begin(), host_out.end(), static_cast<unsigned char>(s.rank + 1));
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    stream.set(out.data(), sent_byte(round, s.rank), n);
    stream.set(big_out.data(), sent_byte(round + 1, s.rank), large);
    r.start(stream);
    r.wait(MPI_STATUSES_IGNORE, stream);
    stream.set(out.data(), 0, n);
    const auto to = static_cast<std::size_t>(round) * n;
    stream.copy(log.data() + to, in.data(), n);
    stream.copy(big_log.data() + to, big_in.data() + large - n, n);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round) {
    const auto at = static_cast<std::size_t>(round) * n;
    s.expect(log.all(sent_byte(round, e.peer), at, n), "a small message");
    s.expect(big_log.all(sent_byte(round + 1, e.peer), at, n), "a large message");
  }
  s.expect(host_in.back() == static_cast<unsigned char>(e.peer + 1), "a message of host memory");
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
}

/// A request that is under way is not started a second time; the first start stays.
void too_early(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64;
  const test_stream stream;
  bytes data(n, 0);
  starts r;
  if (e.sends) {
    r.send(data.data(), n, e, 1);
    stream.set(data.data(), sent_byte(1, s.rank), n);
    s.meet(e.peer);
    r.start(stream);
  } else {
    r.receive(data.data(), n, e, 1);
    r.start(stream);
    r.start(stream);
    stream.wait();
    int code = MPI_SUCCESS;
    for (int looks = 0; looks < 5000 && code == MPI_SUCCESS; ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      code = e.status(stream);
    }
    s.expect_class(code, MPI_ERR_REQUEST, "the second start");
    s.expect_class(MPI_Start(&r.all[0]), MPI_ERR_REQUEST, "a second start by MPI_Start");
    s.meet(e.peer);
  }
  r.wait(MPI_STATUSES_IGNORE, stream);
  stream.wait();
  if (!e.sends) s.expect(data.all(sent_byte(1, e.peer)), "the message");
}

/// Requests that the program frees while they are under way.
void freed(suite& s) {
  if (!goes_through_inbox()) return;
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64;
  const test_stream stream;
  bytes data(n, 0);
  starts r;
  if (e.sends) {
    r.send(data.data(), n, e, 1);
    stream.set(data.data(), sent_byte(1, s.rank), n);
  } else {
    r.receive(data.data(), n, e, 1);
  }
  r.start(stream);
  stream.wait();
  MPI_Request_free(&r.all[0]);
  for (int looks = 0; !e.sends && looks < 5000 && !data.all(sent_byte(1, e.peer)); ++looks) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 9, e.comm, &flag, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!e.sends) s.expect(data.all(sent_byte(1, e.peer)), "the message");
  s.meet(e.peer);
}

/// A receive that the program cancels; the next start gets the message.
void cancelled(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64;
  const test_stream stream;
  bytes data(n, 5);
  starts r;
  if (!e.sends) {
    r.receive(data.data(), n, e, 1);
    r.start(stream);
    stream.wait();
    if (goes_through_inbox()) {
      MPI_Status status;
      int flag = 0;
      MPI_Cancel(&r.all[0]);
      MPI_Wait(&r.all[0], &status);
      MPI_Test_cancelled(&status, &flag);
      s.expect(flag, "the receive was cancelled");
      s.expect(data.all(5), "its buffer");
      r.start(stream);
    }
    s.meet(e.peer);
  } else {
    r.send(data.data(), n, e, 1);
    stream.set(data.data(), sent_byte(1, s.rank), n);
    s.meet(e.peer);
    r.start(stream);
  }
  r.wait(MPI_STATUSES_IGNORE, stream);
  stream.wait();
  if (!e.sends) s.expect(data.all(sent_byte(1, e.peer)), "the message");
}

/// Sends that cannot be launched end in an error at both ends, and can be started again.
void no_launch(suite& s) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0 || !goes_through_inbox()) return;
  const ends e(s);
  if (!e.paired) return;
  constexpr int n = 64, count = 3;
  const test_stream stream;
  bytes data(n * count, 0);
  starts r;
  for (int i = 0; i < count; ++i) {
    if (e.sends)
      r.send(data.data() + i * n, n, e, i);
    else
      r.receive(data.data() + i * n, n, e, i);
  }
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (e.sends) {
    s.meet(e.peer);  // its thread launches nothing meanwhile
    set_faults("launch:1");
    s.expect(r.start(stream) != MPI_SUCCESS, "the start is refused");
    set_faults("");
    s.meet(e.peer);
  } else {
    r.start(stream);
    s.meet(e.peer);
    s.meet(e.peer);
    r.wait(MPI_STATUSES_IGNORE, stream);
    stream.wait();
    s.expect(e.status(stream) != MPI_SUCCESS, "the receiver's status");
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Errhandler_free(&handler);
  if (e.sends) stream.set(data.data(), sent_byte(1, s.rank), n * count);
  r.start(stream);
  r.wait(MPI_STATUSES_IGNORE, stream);
  stream.wait();
  if (!e.sends) s.expect(data.all(sent_byte(1, e.peer)), "the messages started again");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  run_faces(s, [&](int n, int count, int rounds) { faces(s, n, count, rounds); });
  s.run("two faces/one by one", [&] { faces(s, 500, 2, 60, true); });
  s.run("MPI's calls", [&] { ordinary_calls(s, false); });
  s.run("MPI's calls/early", [&] { ordinary_calls(s, true); });
  s.run("another stream", [&] { another_stream(s); });
  s.run("mixed", [&] { mixed(s); });
  s.run("too early", [&] { too_early(s); });
  s.run("freed", [&] { freed(s); });
  s.run("cancelled", [&] { cancelled(s); });
  s.run("no launch", [&] { no_launch(s); });
  return s.finish();
}
