// SPDX-License-Identifier: BSD-3-Clause
// Sends and receives that are matched once and repeated in streams: by the devices alone on a node
// (TEST_MATCHED=devices, which must be so), by messages elsewhere (TEST_MATCHED=host). The results
// are the same.
#include <algorithm>
#include <array>
#include <random>

#include "graph_calls.hpp"
#include "matched_pairs.hpp"

using namespace mpi_test;

namespace {

int sent_byte(int round, int rank) {
  return (round * 16 + rank + 1) & 0xff;
}

/// Both ends in streams, many rounds ahead of them.
void ping_pong(suite& s, std::size_t size, int rounds) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  pair p(s, peer, size, size);
  p.match();
  bytes log(size * static_cast<std::size_t>(rounds), 0);
  const bool first = s.rank < peer;
  for (int round = 0; round < rounds; ++round) {
    stream.set(p.out.data(), sent_byte(round, s.rank), size);
    if (first) {
      start(p.send, stream);
      wait(p.send, stream);
    }
    start(p.receive, stream);
    wait(p.receive, stream);
    if (!first) {
      start(p.send, stream);
      wait(p.send, stream);
    }
    stream.copy(log.data() + static_cast<std::size_t>(round) * size, p.in.data(), size);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(sent_byte(round, peer), static_cast<std::size_t>(round) * size, size),
             "what came in a round");
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "the stream's status");
}

/// All ranks exchange with all, themselves included, by one start and one wait; some tags twice.
void everybody(suite& s, int rounds) {
  const test_stream stream;
  std::vector<std::unique_ptr<pair>> pairs;
  std::vector<MPI_Request> all;
  for (int rank = 0; rank < s.ranks; ++rank)
    for (const int tag : {1, 1, 2})
      pairs.push_back(std::make_unique<pair>(s, rank, 4000, 4000, tag));
  for (const auto& p : pairs)
    for (const MPI_Request r : p->both()) all.push_back(r);
  const int count = static_cast<int>(all.size());
  s.expect_equal(STREAM_CALL(telpher_match)(count, all.data()), MPI_SUCCESS, "telpher_match");
  std::minstd_rand random(static_cast<unsigned>(s.rank));
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d", round);
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      stream.set(pairs[i]->out.data(), sent_byte(round + static_cast<int>(i % 3), s.rank), 4000);
    STREAM_CALL(telpher_startall_enqueue)(count, all.data(), stream);
    STREAM_CALL(telpher_waitall_enqueue)(count, all.data(), MPI_STATUSES_IGNORE, stream);
    if (round % 3) continue;
    stream.wait();
    for (std::size_t i = 0; i < pairs.size(); ++i)
      s.expect(
          pairs[i]->in.all(sent_byte(round + static_cast<int>(i % 3), static_cast<int>(i / 3))),
          "what came from a rank");
  }
  stream.wait();
}

/// Nobody waits for the other in an order of its own: both start the send first, a send is complete
/// before its receive is started, and the receiver takes another one first.
void no_order(suite& s, std::size_t size) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  pair p(s, peer, size, size, 1), q(s, peer, 500, 500, 2);
  std::vector<MPI_Request> all = p.both();
  for (const MPI_Request r : q.both()) all.push_back(r);
  STREAM_CALL(telpher_match)(static_cast<int>(all.size()), all.data());
  for (int round = 0; round < 8; ++round) {
    stream.set(p.out.data(), sent_byte(round, s.rank), size);
    stream.set(q.out.data(), sent_byte(round + 1, s.rank), 500);
    start(p.send, stream);
    wait(p.send, stream);
    start(q.send, stream);
    wait(q.send, stream);
    start(p.receive, stream);
    start(q.receive, stream);
    wait(q.receive, stream);
    wait(p.receive, stream);
    if (round % 4 == 3) stream.wait();
  }
  s.expect(p.in.all(sent_byte(7, peer)) && q.in.all(sent_byte(8, peer)), "the last round");
}

/// Two messages are under way while the receiver is late; they come in order.
void late(suite& s, std::size_t size) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  constexpr int rounds = 5;
  const bool sends = s.rank < peer;
  pair p(s, peer, sends ? size : 0, sends ? 0 : size);
  p.match();
  bytes log(size * rounds, 0);
  if (!sends) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (int round = 0; round < rounds; ++round) {
    if (sends) stream.set(p.out.data(), round + 1, size);
    const MPI_Request r = sends ? p.send : p.receive;
    start(r, stream);
    wait(r, stream);
    if (!sends) stream.copy(log.data() + static_cast<std::size_t>(round) * size, p.in.data(), size);
  }
  stream.wait();
  for (int round = 0; round < rounds && !sends; ++round)
    s.expect(log.all(round + 1, static_cast<std::size_t>(round) * size, size), "a message in turn");
}

/// A large message is in the program's buffer before it is waited for, if its receive was started
/// first, and only then. Never on AMD's devices.
void straight(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks || !by_devices() || backend_name() == std::string("hip")) return;
  constexpr std::size_t size = 600000;
  const test_stream stream;
  const bool sends = s.rank < peer;
  pair p(s, peer, sends ? size : 0, sends ? 0 : size);
  p.match();
  for (int round = 1; round <= 6; ++round) {
    const bool started_first = round % 2;
    const MPI_Request r = sends ? p.send : p.receive;
    int token = 0;
    const auto meet = [&] {
      stream.wait();
      MPI_Sendrecv(&round, 1, MPI_INT, peer, 5, &token, 1, MPI_INT, peer, 5, s.control,
                   MPI_STATUS_IGNORE);
    };
    if (sends) stream.set(p.out.data(), round, size);
    if (!sends && started_first) start(r, stream);
    meet();
    if (sends) start(r, stream);
    meet();
    if (!sends) {
      s.expect(p.in.all(started_first ? round : round - 1), "before the wait");
      if (!started_first) start(r, stream);
    }
    wait(r, stream);
    stream.wait();
    if (!sends) s.expect(p.in.all(round), "after the wait");
  }
}

/// A graph holds starts and waits; each replay exchanges again.
void replayed(suite& s, std::size_t n) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  pair p(s, peer, n, n);
  p.match();
  bytes log(n, 0);
  const bool first = s.rank < peer;
  auto all = p.both();
  {
    graph g(stream);
    if (first) {
      STREAM_CALL(telpher_startall_enqueue)(2, all.data(), stream);
      STREAM_CALL(telpher_waitall_enqueue)(2, all.data(), MPI_STATUSES_IGNORE, stream);
    } else {
      start(p.receive, stream);
      wait(p.receive, stream);
      stream.copy(p.out.data(), p.in.data(), n);
      start(p.send, stream);
      wait(p.send, stream);
    }
    stream.copy(log.data(), p.in.data(), n);
    s.expect(g.end(), "a graph with matched requests");
    for (int round = 1; round <= 12; ++round) {
      s.note("round %d", round);
      if (first) stream.set(p.out.data(), round, n);
      if (!first && round == 5) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      g.launch(stream);
      if (round % 3) continue;  // several launches are under way
      stream.wait();
      s.expect(log.all(round), "what came in a replay");
    }
    stream.wait();
  }
  // Outside of the graph again.
  stream.set(p.out.data(), 77, n);
  STREAM_CALL(telpher_startall_enqueue)(2, all.data(), stream);
  STREAM_CALL(telpher_waitall_enqueue)(2, all.data(), MPI_STATUSES_IGNORE, stream);
  stream.wait();
  s.expect(p.in.all(77), "after the graph");
}

/// Statuses, a receive with more room than the message, beside ordinary persistent requests.
void beside_others(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  pair p(s, peer, 300, 900, 9);
  p.match();
  bytes out(700, 0), in(700, 0);
  MPI_Request r[4] = {MPI_REQUEST_NULL, p.receive, MPI_REQUEST_NULL, p.send};
  MPI_Recv_init(in.data(), 700, MPI_BYTE, peer, 4, s.control, &r[0]);
  MPI_Send_init(out.data(), 700, MPI_BYTE, peer, 4, s.control, &r[2]);
  for (int round = 0; round < 4; ++round) {
    MPI_Status statuses[4];
    stream.set(p.out.data(), sent_byte(round, s.rank), 300);
    stream.set(out.data(), sent_byte(round, s.rank), 700);
    STREAM_CALL(telpher_startall_enqueue)(4, r, stream);
    STREAM_CALL(telpher_waitall_enqueue)(4, r, statuses, stream);
    stream.wait();
    s.expect(p.in.all(sent_byte(round, peer), 0, 300) && p.in.all(0, 300, 600), "matched");
    s.expect(in.all(sent_byte(round, peer)), "not matched");
    int count = 0;
    MPI_Get_count(&statuses[1], MPI_BYTE, &count);
    s.expect(count == 300 && statuses[1].MPI_SOURCE == peer && statuses[1].MPI_TAG == 9,
             "the status of a matched receive");
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    s.expect(count == 700 && statuses[0].MPI_TAG == 4, "the status of another one");
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[2]);
}

/// What goes by messages in any case: host memory, a type with gaps, a message that is too long,
/// nobody.
void others_match_too(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  std::vector<char> host_in(800, 0), host_out(800, 5);
  bytes in(800, 0), out(800, 0);
  MPI_Datatype gaps;
  MPI_Type_vector(4, 100, 200, MPI_BYTE, &gaps);
  MPI_Type_commit(&gaps);
  MPI_Request r[6];
  STREAM_CALL(telpher_matched_send_init)
  (host_out.data(), 800, MPI_BYTE, peer, 1, s.control, &r[0]);
  STREAM_CALL(telpher_matched_recv_init)(in.data(), 800, MPI_BYTE, peer, 1, s.control, &r[1]);
  STREAM_CALL(telpher_matched_send_init)(out.data(), 1, gaps, peer, 2, s.control, &r[2]);
  STREAM_CALL(telpher_matched_recv_init)
  (host_in.data(), 400, MPI_BYTE, peer, 2, s.control, &r[3]);
  STREAM_CALL(telpher_matched_send_init)
  (out.data(), 8, MPI_BYTE, MPI_PROC_NULL, 3, s.control, &r[4]);
  STREAM_CALL(telpher_matched_recv_init)
  (in.data(), 8, MPI_BYTE, MPI_PROC_NULL, 3, s.control, &r[5]);
  MPI_Type_free(&gaps);
  s.expect_equal(STREAM_CALL(telpher_match)(6, r), MPI_SUCCESS, "telpher_match");
  for (int round = 1; round < 4; ++round) {
    host_out.assign(800, static_cast<char>(round));
    stream.set(out.data(), 10 + round, 800);
    STREAM_CALL(telpher_startall_enqueue)(6, r, stream);
    STREAM_CALL(telpher_waitall_enqueue)(6, r, MPI_STATUSES_IGNORE, stream);
    stream.wait();
    s.expect(in.all(round), "from host memory");
    s.expect(
        std::count(host_in.begin(), host_in.begin() + 400, static_cast<char>(10 + round)) == 400,
        "to host memory, with gaps");
  }
  for (MPI_Request& one : r) MPI_Request_free(&one);
}

/// A message that is longer than the receive is MPI_ERR_TRUNCATE of the stream.
void too_long(suite& s) {
  const int peer = s.rank ^ 1;
  const own_comm comm(s, MPI_ERRORS_RETURN);
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes out(600, 1), in(500, 0);
  MPI_Request r[2];
  STREAM_CALL(telpher_matched_send_init)(out.data(), 600, MPI_BYTE, peer, 1, comm, &r[0]);
  STREAM_CALL(telpher_matched_recv_init)(in.data(), 500, MPI_BYTE, peer, 1, comm, &r[1]);
  STREAM_CALL(telpher_match)(2, r);
  STREAM_CALL(telpher_startall_enqueue)(2, r, stream);
  STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream);
  stream.wait();
  const int code = STREAM_CALL(telpher_stream_status)(stream);
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  s.expect(error_class == MPI_ERR_TRUNCATE || error_class == MPI_ERR_IN_STATUS, "truncation");
  for (MPI_Request& one : r) MPI_Request_free(&one);
}

/// Which way was taken, and what is refused.
void refused(suite& s) {
  const int peer = s.rank ^ 1;
  const own_comm comm(s, MPI_ERRORS_RETURN);
  if (peer >= s.ranks) return;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const test_stream stream;
  bytes out(64, 3), in(64, 0);
  MPI_Request r[2], plain;
  STREAM_CALL(telpher_matched_send_init)(out.data(), 64, MPI_BYTE, peer, 1, comm, &r[0]);
  STREAM_CALL(telpher_matched_recv_init)(in.data(), 64, MPI_BYTE, peer, 1, comm, &r[1]);
  MPI_Send_init(out.data(), 64, MPI_BYTE, peer, 1, comm, &plain);
  MPI_Request twice[2] = {r[0], r[0]};
  s.expect_class(STREAM_CALL(telpher_match)(1, &plain), MPI_ERR_REQUEST, "an ordinary request");
  s.expect_class(STREAM_CALL(telpher_match)(2, twice), MPI_ERR_REQUEST, "one that comes twice");
  s.expect_class(STREAM_CALL(telpher_match)(-1, r), MPI_ERR_COUNT, "a negative count");
  s.expect_equal(STREAM_CALL(telpher_match)(2, r), MPI_SUCCESS, "telpher_match");
  if (by_devices()) {
    s.expect_class(STREAM_CALL(telpher_match)(2, r), MPI_ERR_REQUEST, "matched before");
    s.expect_class(MPI_Start(&r[0]), MPI_ERR_REQUEST, "a start on the CPU");
    if (backend_name() == std::string("emu"))  // CUDA ends the process
      s.expect_class(STREAM_CALL(telpher_start_enqueue)(r[0], out.data()), MPI_ERR_ARG,
                     "no stream");
    MPI_Status none[2];
    STREAM_CALL(telpher_waitall_enqueue)(2, r, none, stream);
    stream.wait();
    s.expect(none[1].MPI_SOURCE == MPI_ANY_SOURCE, "nobody waits for what was not started");
    STREAM_CALL(telpher_startall_enqueue)(2, r, stream);
    s.expect_class(STREAM_CALL(telpher_start_enqueue)(r[0], stream), MPI_ERR_REQUEST, "active");
    s.expect_class(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_ERR_REQUEST, "a wait on the CPU");
    STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream);
    stream.wait();
    s.expect(in.all(3), "what was refused changes nothing");
    s.expect_equal(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_SUCCESS, "an inactive request");
  } else {
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    s.expect(in.all(3), "by messages the CPU may start and wait");
  }
  for (MPI_Request& one : r) MPI_Request_free(&one);
  MPI_Request_free(&plain);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

/// A list of no requests needs no thread of ours either.
void nothing(suite& s) {
  const test_stream stream;
  const std::array<MPI_Request, 0> none{};
  s.expect_equal(STREAM_CALL(telpher_match)(0, none.data()), MPI_SUCCESS, "match");
  s.expect_equal(STREAM_CALL(telpher_startall_enqueue)(0, none.data(), stream), MPI_SUCCESS,
                 "start");
  s.expect_equal(STREAM_CALL(telpher_waitall_enqueue)(0, nullptr, MPI_STATUSES_IGNORE, stream),
                 MPI_SUCCESS, "wait");
}

/// Rooms go with their requests, and memory of the program's is freed while others are in use.
void come_and_go(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  long long before = -1;
  for (int round = 0; round < 40; ++round) {
    s.note("round %d", round);
    const test_stream stream;
    pair p(s, peer, 40000, 40000, round % 2);
    p.match();
    auto all = p.both();
    stream.set(p.out.data(), sent_byte(round, s.rank), 40000);
    STREAM_CALL(telpher_startall_enqueue)(2, all.data(), stream);
    STREAM_CALL(telpher_waitall_enqueue)(2, all.data(), MPI_STATUSES_IGNORE, stream);
    stream.wait();
    s.expect(p.in.all(sent_byte(round, peer)), "what came");
    MPI_Sendrecv(p.out.data(), 40000, MPI_BYTE, peer, 7, p.in.data(), 40000, MPI_BYTE, peer, 7,
                 s.control, MPI_STATUS_IGNORE);
    if (round == 10) before = held();
  }
  if (before >= 0) s.expect(held() <= before + 8, "memory that is held does not grow");
}

}  // namespace

int main(int argc, char** argv) {
  // By the devices alone no thread of ours is needed.
  const bool low = std::getenv("TEST_LEVEL") != nullptr;
  suite s(&argc, &argv, 2, low ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
  for (const std::size_t size : {1, 8, 3000, 100000, 1000000})
    s.run("ping pong of " + std::to_string(size), [&] { ping_pong(s, size, 20); });
  s.run("far ahead", [&] { ping_pong(s, 64, 700); });
  s.run("everybody", [&] { everybody(s, 30); });
  for (const std::size_t size : {3000, 700000}) {
    if (size < 100000 || by_devices())  // hosts need not keep a large message
      s.run("no order of " + std::to_string(size), [&] { no_order(s, size); });
    s.run("late " + std::to_string(size), [&] { late(s, size); });
    if (graph_calls()) s.run("replayed " + std::to_string(size), [&] { replayed(s, size); });
  }
  s.run("straight", [&] { straight(s); });
  s.run("nothing", [&] { nothing(s); });
  s.run("refused", [&] { refused(s); });
  if (!low) {
    s.run("beside others", [&] { beside_others(s); });
    s.run("others match too", [&] { others_match_too(s); });
    s.run("too long", [&] { too_long(s); });
  }
  s.run("come and go", [&] { come_and_go(s); });
  return s.finish();
}
