// SPDX-License-Identifier: BSD-3-Clause
// A rank is late by seconds for what a stream of rank 0 waits for. Meanwhile ranks 0 and 1 exchange
// messages, in another stream too, and add: the late rank does not come before they are done, so a
// device that were held for it would be held for ever.
#include <memory>

#include "graph_calls.hpp"
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr int size = 3000;

/// The late rank and rank 0, the first two, and what rank 0 waits for.
struct scene {
  explicit scene(suite& s_) : s(s_), late(s.ranks - 1), data(size, 0), sum(size, 0) {
    const bool far = s.rank == 0 || s.rank == late;
    MPI_Comm_split(s.control, far ? 0 : MPI_UNDEFINED, s.rank, &with_late);
    MPI_Comm_split(s.control, s.rank < 2 ? 0 : MPI_UNDEFINED, s.rank, &first_two);
  }
  ~scene() {
    for (MPI_Comm* c : {&with_late, &first_two})
      if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// Kept as long as the scene: to free device memory waits for all streams.
  bytes& memory(std::size_t count, int byte) {
    return *kept.emplace_back(std::make_unique<bytes>(count, byte));
  }
  bool waits() const { return s.rank == 0; }
  bool is_late() const { return s.rank == late; }

  suite& s;
  const int late;
  const test_stream stream;
  bytes data, sum;
  std::vector<std::unique_ptr<bytes>> kept;
  MPI_Comm with_late = MPI_COMM_NULL, first_two = MPI_COMM_NULL;
};

void exchange(scene& c, int round, int bytes_each, void* stream) {
  suite& s = c.s;
  const int peer = 1 - s.rank;
  const auto n = static_cast<std::size_t>(bytes_each);
  const bytes &out = c.memory(n, 10 * s.rank + round), &in = c.memory(n, 0);
  if (stream) {
    STREAM_CALL(telpher_sendrecv_enqueue)
    (out.data(), bytes_each, MPI_BYTE, peer, 1, in.data(), bytes_each, MPI_BYTE, peer, 1, s.control,
     MPI_STATUS_IGNORE, stream);
    STREAM_CALL(telpher_stream_synchronize)(stream);
  } else {
    MPI_Sendrecv(out.data(), bytes_each, MPI_BYTE, peer, 1, in.data(), bytes_each, MPI_BYTE, peer,
                 1, s.control, MPI_STATUS_IGNORE);
  }
  s.expect(in.all(10 * peer + round), "what came from the rank that is not late");
}

void meanwhile(scene& c) {
  const test_stream other;
  for (int round = 1; round < 4; ++round)
    for (const int n : {8, 100000, 1500000}) {
      exchange(c, round, n, nullptr);
      exchange(c, round, n, other);
    }
  const bytes &mine = c.memory(50000, 3), &both = c.memory(50000, 0);
  MPI_Allreduce(mine.data(), both.data(), 50000, MPI_UNSIGNED_CHAR, MPI_SUM, c.first_two);
  c.s.expect(both.all(6), "a sum of the ranks that are not late");
}

/// `hold` makes rank 0's stream wait for what the late rank does in `come`.
template <class Hold, class Come>
void others_go_on(scene& c, Hold hold, Come come) {
  int token = 0;
  if (c.is_late()) {
    for (const int r : {0, 1}) MPI_Recv(&token, 1, MPI_INT, r, 2, c.s.control, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::seconds(2));
    come();
    c.stream.wait();
    return;
  }
  if (c.waits()) hold();
  if (c.s.rank < 2) {
    meanwhile(c);
    MPI_Send(&token, 1, MPI_INT, c.late, 2, c.s.control);
  }
  c.stream.wait();
}

void receive(suite& s) {
  scene c(s);
  if (c.is_late()) c.data.set(5);
  others_go_on(
      c,
      [&] {
        STREAM_CALL(telpher_recv_enqueue)
        (c.data.data(), size, MPI_BYTE, c.late, 3, s.control, MPI_STATUS_IGNORE, c.stream);
      },
      [&] { MPI_Send(c.data.data(), size, MPI_BYTE, 0, 3, s.control); });
  if (c.waits()) s.expect(c.data.all(5), "what came late");
}

void replayed_receive(suite& s) {
  scene c(s);
  if (c.is_late()) c.data.set(5);
  std::unique_ptr<graph> g;
  if (c.waits()) {
    g = std::make_unique<graph>(c.stream);
    STREAM_CALL(telpher_recv_enqueue)
    (c.data.data(), size, MPI_BYTE, c.late, 3, s.control, MPI_STATUS_IGNORE, c.stream);
    s.expect(g->end(), "the graph");
  }
  others_go_on(
      c, [&] { s.expect(g->launch(c.stream), "a launch"); },
      [&] { MPI_Send(c.data.data(), size, MPI_BYTE, 0, 3, s.control); });
  if (c.waits()) s.expect(c.data.all(5), "what came late");
}

/// Both ends' request; null at the other ranks.
void run_matched(scene& c, MPI_Request r) {
  const auto run = [&] {
    STREAM_CALL(telpher_start_enqueue)(r, c.stream);
    STREAM_CALL(telpher_wait_enqueue)(&r, MPI_STATUS_IGNORE, c.stream);
  };
  others_go_on(c, run, run);
  if (r != MPI_REQUEST_NULL) MPI_Request_free(&r);
}

void matched_receive(suite& s) {
  scene c(s);
  if (c.is_late()) c.data.set(5);
  MPI_Request r = MPI_REQUEST_NULL;
  if (c.waits()) {
    STREAM_CALL(telpher_matched_recv_init)
    (c.data.data(), size, MPI_BYTE, c.late, 4, s.control, &r);
  } else if (c.is_late()) {
    STREAM_CALL(telpher_matched_send_init)(c.data.data(), size, MPI_BYTE, 0, 4, s.control, &r);
  }
  STREAM_CALL(telpher_match)(r != MPI_REQUEST_NULL, &r);
  run_matched(c, r);
  if (c.waits()) s.expect(c.data.all(5), "what came late");
}

/// The last one of `calls` is late. From the 16th on a collective is a kernel of the devices.
void collective(suite& s, int calls) {
  scene c(s);
  c.data.set(4);
  const auto add = [&] {
    STREAM_CALL(telpher_allreduce_enqueue)
    (c.data.data(), c.sum.data(), size, MPI_UNSIGNED_CHAR, MPI_SUM, c.with_late, c.stream);
  };
  if (c.with_late != MPI_COMM_NULL)
    for (int i = 1; i < calls; ++i) add();
  c.stream.wait();
  c.sum.set(0);
  others_go_on(c, add, add);
  if (c.with_late != MPI_COMM_NULL) s.expect(c.sum.all(8), "the sum with the late rank");
}

#if MPI_VERSION >= 4
void matched_collective(suite& s) {
  scene c(s);
  c.data.set(4);
  MPI_Request r = MPI_REQUEST_NULL;
  if (c.with_late != MPI_COMM_NULL) {
    MPI_Allreduce_init(c.data.data(), c.sum.data(), size, MPI_UNSIGNED_CHAR, MPI_SUM, c.with_late,
                       MPI_INFO_NULL, &r);
    STREAM_CALL(telpher_match)(1, &r);
  }
  run_matched(c, r);
  if (c.with_late != MPI_COMM_NULL) s.expect(c.sum.all(8), "the sum with the late rank");
}
#endif

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 3, MPI_THREAD_MULTIPLE);
  s.run("receive", [&] { receive(s); });
  if (graph_calls()) s.run("replayed receive", [&] { replayed_receive(s); });
  s.run("matched receive", [&] { matched_receive(s); });
  s.run("collective", [&] { collective(s, 1); });
  s.run("collective again", [&] { collective(s, 30); });
#if MPI_VERSION >= 4
  s.run("matched collective", [&] { matched_collective(s); });
#endif
  return s.finish();
}
