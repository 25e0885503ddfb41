// SPDX-License-Identifier: BSD-3-Clause
// Small messages between streams, which go through an inbox (mpi/stream_messages.hpp): beside
// ordinary sends and receives of every kind, beside operations of the proxy's, with ranks that are
// late, too many of them, and devices that fail. TEST_INBOX=none: nothing may go through an inbox,
// and everything is right none the less.
#include "emulated.hpp"
#include "inbox_ends.hpp"

using namespace mpi_test;

namespace {

void ping_pong(suite& s, int n, int rounds) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  const auto size = static_cast<std::size_t>(n);
  bytes out(size, 0), in(size, 0), log(size * static_cast<std::size_t>(rounds), 0);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d of %d bytes", round, n);
    stream.set(out.data(), sent_byte(round, s.rank), size);
    stream.set(in.data(), 0, size);
    if (e.sends) send(out, n, e.peer, 5, e.comm, stream);
    receive(in, n, e.peer, 5, e.comm, stream);
    if (!e.sends) send(out, n, e.peer, 5, e.comm, stream);
    stream.set(out.data(), 0, size);  // the message has left it
    stream.copy(log.data() + static_cast<std::size_t>(round) * size, in.data(), size);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(sent_byte(round, e.peer), static_cast<std::size_t>(round) * size, size),
             "what came in a round");
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
  s.expect(came_as_wanted(rounds, n), "the way of the last message");
}

/// Far ahead of the streams, both ways at once.
void exchanges(suite& s, int rounds) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  constexpr int n = 100;
  bytes out(n, 0), in(n, 0), log(static_cast<std::size_t>(n * rounds), 0);
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    stream.set(out.data(), sent_byte(round, s.rank), n);
    STREAM_CALL(telpher_sendrecv_enqueue)
    (out.data(), n, MPI_BYTE, e.peer, round % 3, in.data(), n, MPI_BYTE, e.peer, round % 3, e.comm,
     MPI_STATUS_IGNORE, stream);
    stream.copy(log.data() + round * n, in.data(), n);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(sent_byte(round, e.peer), static_cast<std::size_t>(round) * n, n),
             "what came in a round");
}

/// The kinds of ordinary receives.
enum class into { device, host, gaps, any_source, probed, polled, kinds };

MPI_Status receive_ordinary(suite& s, into how, void* buffer, int n, const ends& e, int tag) {
  MPI_Status status{};
  MPI_Request r;
  int done = 0;
  switch (how) {
    case into::any_source:
      MPI_Recv(buffer, n, MPI_BYTE, MPI_ANY_SOURCE, tag, e.comm, &status);
      break;
    case into::probed: {
      MPI_Message message;
      MPI_Mprobe(e.peer, MPI_ANY_TAG, e.comm, &message, &status);
      s.expect_status(status, e.peer, tag, static_cast<std::size_t>(n));
      MPI_Mrecv(buffer, n, MPI_BYTE, &message, &status);
      break;
    }
    case into::polled:
      MPI_Irecv(buffer, n, MPI_BYTE, e.peer, tag, e.comm, &r);
      while (!done) MPI_Test(&r, &done, &status);
      break;
    case into::gaps: {
      MPI_Datatype every_second;
      MPI_Type_vector(n, 1, 2, MPI_BYTE, &every_second);
      MPI_Type_commit(&every_second);
      MPI_Recv(buffer, 1, every_second, e.peer, tag, e.comm, &status);
      MPI_Type_free(&every_second);
      break;
    }
    default:
      MPI_Recv(buffer, n, MPI_BYTE, e.peer, tag, e.comm, &status);
  }
  return status;
}

/// What a stream sends meets an ordinary receive of any kind, before and after the stream gets
/// there.
void ordinary_receives(suite& s, int n) {
  const ends e(s);
  if (!e.paired) return;
  const auto room = static_cast<std::size_t>(2 * n);
  bytes data(room, 1);
  std::vector<unsigned char> host(room);
  constexpr int kinds = static_cast<int>(into::kinds);
  for (int message = 0; message < 2 * kinds; ++message) {
    const auto how = static_cast<into>(message % kinds);
    const bool late = message >= kinds;
    s.note("kind %d%s", message % kinds, late ? ", of a stream that is late" : "");
    if (e.sends) {
      const test_stream stream;
      gate g;
      if (late) g.hold(stream);
      stream.set(data.data(), sent_byte(message, s.rank), static_cast<std::size_t>(n));
      send(data, n, e.peer, message, e.comm, stream);
      stream.set(data.data(), 0, static_cast<std::size_t>(n));
      if (late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      g.open();
      stream.wait();
      s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
    } else if (how == into::host) {
      const MPI_Status status = receive_ordinary(s, how, host.data(), n, e, message);
      s.expect_status(status, e.peer, message, static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i)
        s.expect(host[static_cast<std::size_t>(i)] == sent_byte(message, e.peer), "host memory");
    } else {
      data.set(0);
      const MPI_Status status = receive_ordinary(s, how, data.data(), n, e, message);
      s.expect_status(status, e.peer, message, static_cast<std::size_t>(n));
      const std::size_t step = how == into::gaps ? 2 : 1;
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); i += std::max(1, n / 16))
        s.expect(data.all(sent_byte(message, e.peer), i * step, 1), "device memory");
      if (step == 2) s.expect(data.all(0, 1, 1), "a gap");
    }
  }
}

/// A receive in a stream meets ordinary sends. Its buffer is the program's until the stream gets
/// there, however early the message is.
void ordinary_sends(suite& s, int n) {
  const ends e(s);
  if (!e.paired) return;
  const auto size = static_cast<std::size_t>(n);
  bytes data(size, 0), before(size, 0), after(size, 0);
  std::vector<unsigned char> host(size);
  for (int message = 0; message < 6; ++message) {
    const bool from_host = message % 2 == 1, late = message < 4;
    s.note("message %d", message);
    if (!e.sends) {
      const test_stream stream;
      gate g;
      MPI_Status status{};
      data.set(9);
      if (late) g.hold(stream);
      stream.copy(before.data(), data.data(), size);
      receive(data, n, e.peer, MPI_ANY_TAG, e.comm, stream, &status);
      stream.copy(after.data(), data.data(), size);
      s.meet(e.peer);
      if (late) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      g.open();
      stream.wait();
      s.expect(before.all(9), "the buffer before the stream gets there");
      s.expect(after.all(sent_byte(message, e.peer)), "the message");
      s.expect_status(status, e.peer, message, size);
    } else {
      if (late) s.meet(e.peer);
      data.set(sent_byte(message, s.rank));
      std::fill(host.begin(), host.end(), static_cast<unsigned char>(sent_byte(message, s.rank)));
      MPI_Send(from_host ? host.data() : data.data(), n, MPI_BYTE, e.peer, message, e.comm);
      if (!late) s.meet(e.peer);
    }
  }
}

/// Messages of one tag come in the order of their stream, whichever way each one goes.
void order(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int messages = 60, most = 50000;
  const test_stream stream;
  bytes data(most, 0), log(messages, 0);
  std::vector<unsigned char> host(messages * 8);
  for (int message = 0; message < messages; ++message) {
    s.note("message %d", message);
    const int kind = message % 7;
    const int n = kind == 3 ? most : 8;  // too large for the inbox
    unsigned char* const own = host.data() + message * 8;
    if (e.sends) {
      stream.set(data.data(), sent_byte(message, s.rank), static_cast<std::size_t>(n));
      std::fill_n(own, 8, static_cast<unsigned char>(sent_byte(message, s.rank)));
      if (kind == 5)
        STREAM_CALL(telpher_send_enqueue)(own, n, MPI_BYTE, e.peer, 1, e.comm, stream);
      else
        send(data, n, e.peer, 1, e.comm, stream);
    } else if (kind == 4) {
      STREAM_CALL(telpher_recv_enqueue)
      (own, n, MPI_BYTE, e.peer, 1, e.comm, MPI_STATUS_IGNORE, stream);
    } else {
      receive(data, n, kind == 6 ? MPI_ANY_SOURCE : e.peer, 1, e.comm, stream);
      stream.copy(log.data() + message, data.data() + n - 1, 1);
    }
  }
  stream.wait();
  for (std::size_t i = 0; !e.sends && i < messages; ++i) {
    const int wanted = sent_byte(static_cast<int>(i), e.peer);
    s.expect(i % 7 == 4 ? host[i * 8] == wanted : log.all(wanted, i, 1), "the order");
  }
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
}

/// More messages than an inbox has cells, before the first one is received; in another order of
/// tags than they were sent.
void many(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  constexpr int messages = 150, n = 16;
  const test_stream stream;
  bytes data(n * messages, 0);
  if (e.sends) {
    for (int message = 0; message < messages; ++message) {
      s.note("message %d", message);
      stream.set(data.data() + message * n, sent_byte(message, s.rank), n);
      send(data, n, e.peer, message, e.comm, stream, static_cast<std::size_t>(message * n));
    }
    stream.wait();
    s.meet(e.peer);
  } else {
    s.meet(e.peer);
    for (int message = messages - 1; message >= 0; --message) STREAM_CALL(telpher_recv_enqueue)
    (data.data() + message * n, n, MPI_BYTE, e.peer, message, e.comm, MPI_STATUS_IGNORE, stream);
    stream.wait();
    for (int message = 0; message < messages; ++message)
      s.expect(data.all(sent_byte(message, e.peer), static_cast<std::size_t>(message * n), n),
               "a message");
  }
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
}

/// Shorter than the receive, and longer: an error, after which the stream goes on.
void lengths(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  bytes data(4000, 1), log(4000, 0);
  MPI_Status short_one{};
  if (e.sends) {
    data.set(6);
    send(data, 700, e.peer, 1, e.comm, stream);
    send(data, 4000, e.peer, 2, e.comm, stream);
    send(data, 4000, e.peer, 3, e.comm, stream);
    stream.wait();
    s.expect_equal(e.status(stream), MPI_SUCCESS, "the sender's status");
    return;
  }
  receive(data, 4000, e.peer, MPI_ANY_TAG, e.comm, stream, &short_one);
  stream.copy(log.data(), data.data(), 4000);
  stream.wait();
  s.expect_status(short_one, e.peer, 1, 700);
  s.expect(log.all(6, 0, 700) && log.all(1, 700, 3300), "what is not sent stays");
  receive(data, 1000, e.peer, 2, e.comm, stream);
  receive(data, 4000, e.peer, 3, e.comm, stream);
  stream.wait();
  s.expect_class(e.status(stream), MPI_ERR_TRUNCATE, "a message that is too long");
  s.expect(data.all(6), "the stream goes on");
}

/// A rank that is late by a second holds up no thread.
void late(suite& s) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  bytes data(64, 5), copy(64, 0);
  if (e.sends) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    send(data, 64, e.peer, 3, e.comm, stream);
    s.meet(e.peer);
  } else {
    data.set(0);
    receive(data, 64, e.peer, 3, e.comm, stream);
    stream.copy(copy.data(), data.data(), 64);
    s.meet(e.peer);
    stream.wait();
    s.expect(copy.all(5), "what came late");
  }
  stream.wait();
}

/// A receive whose kernel cannot be launched leaves its buffer alone, also where its message is
/// there already: that is thrown away.
void given_up(suite& s, int n) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0 || !goes_through_inbox()) return;
  const ends e(s);
  if (!e.paired) return;
  const auto size = static_cast<std::size_t>(n);
  bytes data(size, 1), others(size, 0);
  const test_stream stream;
  if (e.sends) {
    send(data, n, e.peer, 1, e.comm, stream);
    stream.wait();
  } else {
    for (int there = 0; !there;) MPI_Iprobe(e.peer, 1, e.comm, &there, MPI_STATUS_IGNORE);
    set_faults("launch:1+");
    s.expect_class(STREAM_CALL(telpher_recv_enqueue)(data.data(), n, MPI_BYTE, e.peer, 1, e.comm,
                                                     MPI_STATUS_IGNORE, stream),
                   MPI_ERR_OTHER, "the error");
    set_faults("");
    data.set(3);
  }
  for (int i = 0; i < 20; ++i) {
    if (e.sends) MPI_Send(others.data(), n, MPI_BYTE, e.peer, 2, e.comm);
    if (!e.sends) MPI_Recv(others.data(), n, MPI_BYTE, e.peer, 2, e.comm, MPI_STATUS_IGNORE);
    s.meet(e.peer);
  }
  if (!e.sends) s.expect(data.all(3), "the buffer");
}

/// A kernel that cannot be launched, and one that dies with its device: an error at the rank whose
/// device it is, another one at its peer, and both streams go on.
void failing(suite& s, const char* faults, bool sender_fails) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0 || !goes_through_inbox()) return;
  const ends e(s);
  if (!e.paired) return;
  bytes data(64, 1);
  const bool fails = e.sends == sender_fails;
  {
    const test_stream stream;
    s.meet(e.peer);
    if (fails) set_faults(faults);
    int code = 0;
    if (e.sends)
      code =
          STREAM_CALL(telpher_send_enqueue)(data.data(), 64, MPI_BYTE, e.peer, 1, e.comm, stream);
    else
      code = STREAM_CALL(telpher_recv_enqueue)(data.data(), 64, MPI_BYTE, e.peer, 1, e.comm,
                                               MPI_STATUS_IGNORE, stream);
    int found = code;
    for (int looks = 0; looks < 5000 && found == MPI_SUCCESS && (fails || sender_fails); ++looks) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      found = e.status(stream);
    }
    if (fails) set_faults("");
    stream.wait();
    const bool hears = fails || (sender_fails && !e.sends);
    s.expect_class(found, hears ? MPI_ERR_OTHER : MPI_SUCCESS, "the error");
  }
  s.meet(e.peer);
  const test_stream other;
  data.set(e.sends ? 8 : 0);
  (e.sends ? send(data, 64, e.peer, 2, e.comm, other)
           : receive(data, 64, e.peer, 2, e.comm, other));
  other.wait();
  s.expect(data.all(8), "the next message");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  for (const int n : {1, 8, 477, 480, 3000, 8192})
    s.run("ping pong/" + std::to_string(n), [&] { ping_pong(s, n, 20); });
  for (const int n : {8193, 30000, 131072, 1 << 20})
    if (large_go_through_inbox())
      for (const int rounds : {3, 20})
        s.run("ping pong/" + std::to_string(n) + "/" + std::to_string(rounds),
              [&] { ping_pong(s, n, rounds); });
  s.run("exchanges", [&] { exchanges(s, 400); });
  for (const int n : {8, 5000, 100000}) {
    s.run("ordinary receives/" + std::to_string(n), [&] { ordinary_receives(s, n); });
    s.run("ordinary sends/" + std::to_string(n), [&] { ordinary_sends(s, n); });
  }
  s.run("order", [&] { order(s); });
  s.run("many", [&] { many(s); });
  s.run("lengths", [&] { lengths(s); });
  s.run("late", [&] { late(s); });
  for (const int n : {64, 5000, 200000})
    if (n <= 8192 || large_go_through_inbox())
      s.run("given up/" + std::to_string(n), [&] { given_up(s, n); });
  s.run("no launch of a send", [&] { failing(s, "launch:1+", true); });
  s.run("no launch of a receive", [&] { failing(s, "launch:1+", false); });
  s.run("dead sender", [&] { failing(s, "die:1,event:1+", true); });
  s.run("dead receiver", [&] { failing(s, "die:1,event:1+", false); });
  return s.finish();
}
