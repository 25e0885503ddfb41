// SPDX-License-Identifier: BSD-3-Clause
// Operations that a graph holds: each replay runs them again with what the stream has written
// before, also beside enqueued operations and when the other rank is late. What a graph cannot hold
// is said at the call, a cancelled capture leaves nothing, and the words of a graph that is gone
// are used again.
#include "graph_calls.hpp"
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int n = 5000;

/// A ping-pong whose answer is one more in each replay, by what the graph itself copies and fills.
void ping_pong(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes out(n, 0), in(n, 0), log(n, 0);
  graph g(stream);
  const bool first = s.rank < peer;
  if (first) STREAM_CALL(telpher_send_enqueue)(out.data(), n, MPI_BYTE, peer, 1, s.control, stream);
  STREAM_CALL(telpher_recv_enqueue)
  (in.data(), n, MPI_BYTE, peer, 1, s.control, MPI_STATUS_IGNORE, stream);
  if (!first) stream.copy(out.data(), in.data(), n);
  if (!first)
    STREAM_CALL(telpher_send_enqueue)(out.data(), n, MPI_BYTE, peer, 1, s.control, stream);
  stream.copy(log.data(), in.data(), n);
  s.expect(g.end(), "a graph with messages");
  for (int round = 1; round <= 12; ++round) {
    s.note("round %d", round);
    if (first) stream.set(out.data(), round, n);
    if (!first && round == 5) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    g.launch(stream);
    if (round % 3) continue;  // several launches are under way
    stream.wait();
    s.expect(log.all(round), "what came in a replay");
  }
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "the stream's status");
}

/// A collective and persistent requests in one graph, between operations that are enqueued.
void mixed(suite& s) {
  const int peer = s.rank ^ 1;
  const bool pairs = peer < s.ranks;
  const test_stream stream;
  bytes one(64, 1), sum(64, 0), log(64, 0), out(n, 0), in(n, 0);
  MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (pairs) {
    MPI_Recv_init(in.data(), n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Send_init(out.data(), n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &r[1]);
  }
  graph g(stream);
  STREAM_CALL(telpher_allreduce_enqueue)
  (one.data(), sum.data(), 64, MPI_UNSIGNED_CHAR, MPI_SUM, s.control, stream);
  if (pairs) {
    STREAM_CALL(telpher_startall_enqueue)(2, r, stream);
    STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream);
  }
  stream.copy(log.data(), sum.data(), 64);
  s.expect(g.end(), "a graph with a collective and persistent requests");
  for (int round = 1; round <= 6; ++round) {
    s.note("round %d", round);
    stream.set(one.data(), round, 64);
    stream.set(out.data(), 10 * round + s.rank, n);
    g.launch(stream);
    STREAM_CALL(telpher_allreduce_enqueue)
    (log.data(), sum.data(), 64, MPI_UNSIGNED_CHAR, MPI_MAX, s.control, stream);
    stream.wait();
    s.expect(sum.all(round * s.ranks), "a collective after one in a graph");
    if (pairs) s.expect(in.all(10 * round + peer), "persistent requests in a graph");
  }
  for (MPI_Request& one_of : r)
    if (one_of != MPI_REQUEST_NULL) MPI_Request_free(&one_of);
}

/// Refusals leave the capture as it is.
void refused(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const test_stream stream;
  bytes data(64, 0);
  graph g(stream);
  MPI_Request r = MPI_REQUEST_NULL;
  s.expect_class(
      STREAM_CALL(telpher_isend_enqueue)(data.data(), 1, MPI_BYTE, s.rank, 1, comm, &r, stream),
      MPI_ERR_OTHER, "a request out of a graph");
  s.expect(r == MPI_REQUEST_NULL, "no request");
  stream.set(data.data(), 4, 64);
  s.expect(g.end(), "the capture goes on");
  g.launch(stream);
  stream.wait();
  s.expect(data.all(4), "what the graph holds");
  MPI_Comm_free(&comm);
}

/// A capture that has failed, by a call that is not allowed in one, takes no operation;
/// the stream's next capture does.
void invalidated(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const test_stream stream;
  const int peer = s.rank ^ 1;
  bytes out(n, 9), in(n, 0);
  const auto exchange = [&] {
    return STREAM_CALL(telpher_sendrecv_enqueue)(out.data(), n, MPI_BYTE, peer, 3, in.data(), n,
                                                 MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE,
                                                 stream);
  };
  if (peer < s.ranks) {
    graph g(stream);
    s.expect_equal(exchange(), MPI_SUCCESS, "an operation before");
    s.expect(g.invalidate(), "the capture fails");
    s.expect_class(exchange(), MPI_ERR_OTHER, "an operation after");
    s.expect(!g.end(), "there is no graph");
  }
  if (peer < s.ranks) {
    graph g(stream);
    s.expect_equal(exchange(), MPI_SUCCESS, "an operation in another capture");
    s.expect(g.end(), "a graph");
    g.launch(stream);
    stream.wait();
    s.expect(in.all(9), "what came in a replay");
  }
  MPI_Comm_free(&comm);
}

/// Errors of a replay are the stream's, and the next replay runs.
void errors(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const test_stream stream;
  bytes data(64, 0);
  graph g(stream);
  STREAM_CALL(telpher_send_enqueue)(data.data(), 1, MPI_BYTE, s.ranks + 3, 1, comm, stream);
  stream.set(data.data(), 6, 64);
  s.expect(g.end(), "a graph whose operation will fail");
  for (int round = 0; round < 2; ++round) {
    data.set(0);
    g.launch(stream);
    stream.wait();
    s.expect(data.all(6), "the stream goes on");
    s.expect_class(STREAM_CALL(telpher_stream_status)(stream), MPI_ERR_RANK, "its status");
  }
  MPI_Comm_free(&comm);
}

/// Graphs that come and go, some of them never launched, use the same words.
void many(suite& s) {
  const test_stream stream;
  const long long pinned = counted("pinned");
  for (int round = 0; round < 300; ++round) {
    s.note("round %d", round);
    graph g(stream);
    STREAM_CALL(telpher_barrier_enqueue)(s.control, stream);
    if (round % 3 == 2) continue;  // a capture that is given up
    s.expect(g.end(), "a graph");
    if (round % 3 == 0) continue;
    g.launch(stream);
    stream.wait();
  }
  if (pinned >= 0) s.expect(counted("pinned") < pinned + 3, "pinned memory does not grow");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (!graph_calls()) return s.finish();
  s.run("ping pong", [&] { ping_pong(s); });
  s.run("mixed", [&] { mixed(s); });
  s.run("refused", [&] { refused(s); });
  s.run("invalidated", [&] { invalidated(s); });
  s.run("errors", [&] { errors(s); });
  s.run("many", [&] { many(s); });
  return s.finish();
}
