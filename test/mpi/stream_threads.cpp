// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: threads that enqueue at once, each in a stream and on a communicator of its
// own, with and without graphs (stream_line.hpp); and threads that enqueue in one stream, where
// each has its own tag.
#include <functional>

#include "stream_line.hpp"

using namespace mpi_test;

namespace {

constexpr int thread_count = 4;

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int t = 1; t < thread_count; ++t) running.emplace_back(body, t);
  body(0);
  for (std::thread& t : running) t.join();
}

/// All that threads must not do while streams of others wait, such as freeing memory, is done when
/// they are through.
void own_streams(suite& s, long steps, bool replays) {
  std::deque<line> lines;
  for (int t = 0; t < thread_count; ++t) lines.emplace_back(s, steps, replays);
  in_threads([&](int t) {
    line& own = lines[static_cast<std::size_t>(t)];
    const auto seed = s.opt.seed * 100 + static_cast<std::uint64_t>(t);
    random_numbers random(seed), late(seed * 31 + static_cast<std::uint64_t>(s.rank));
    for (long i = 0; i < steps; ++i) {
      s.note("thread %d, step %ld", t, i);
      own.step(i, random);
      if (late.chance(3)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    own.wait();
  });
  for (line& one : lines) one.check();
}

/// The stream's order is that of the calls, whoever makes them: each thread waits for the stream
/// after each of its exchanges.
void one_stream(suite& s, int rounds) {
  const int peer = s.rank ^ 1;
  constexpr std::size_t size = 3000;
  MPI_Comm comm;
  MPI_Comm_split(s.control, peer < s.ranks ? 0 : MPI_UNDEFINED, s.rank, &comm);
  if (comm == MPI_COMM_NULL) return;
  const test_stream stream;
  bytes out(size * thread_count, 0), in(size * thread_count, 0),
      log(static_cast<std::size_t>(rounds * thread_count), 0);
  const auto sent = [](int t, int round, int rank) {
    return 1 + (t * 50 + round * 2 + rank) % 200;
  };
  in_threads([&](int t) {
    unsigned char* const from = out.data() + size * static_cast<std::size_t>(t);
    unsigned char* const to = in.data() + size * static_cast<std::size_t>(t);
    for (int round = 0; round < rounds; ++round) {
      s.note("thread %d, round %d", t, round);
      MPI_Request r[2];
      stream.set(from, sent(t, round, s.rank), size);
      STREAM_CALL(telpher_irecv_enqueue)(to, size, MPI_BYTE, peer, t, comm, &r[0], stream);
      STREAM_CALL(telpher_isend_enqueue)(from, size, MPI_BYTE, peer, t, comm, &r[1], stream);
      // Not in the stream, where the wait of one thread could stand before the send of another.
      MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
      stream.copy(log.data() + round * thread_count + t, to + size - 1, 1);
      stream.wait();
    }
  });
  for (int round = 0; round < rounds; ++round)
    for (int t = 0; t < thread_count; ++t)
      s.expect(log.all(sent(t, round, peer), static_cast<std::size_t>(round * thread_count + t), 1),
               "what came in a round");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (!s.has_threads()) return s.finish();
  const long steps = s.opt.messages > 0 ? s.opt.messages : 60;
  s.run("own streams", [&] { own_streams(s, steps, false); });
  s.run("own streams, graphs", [&] { own_streams(s, steps, true); });
  s.run("one stream", [&] { one_stream(s, 50); });
  return s.finish();
}
