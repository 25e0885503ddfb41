// SPDX-License-Identifier: BSD-3-Clause
// For tests of messages between streams that go through an inbox (mpi/stream_messages.hpp).
// TEST_INBOX=none: nothing may go through one; =small: only messages of up to 8 KB.
#pragma once

#include <cstring>
#include <thread>

#include "paths.hpp"
#include "stream_calls.hpp"

namespace mpi_test {

inline int sent_byte(int message, int rank) {
  return (message * 7 + rank * 3 + 1) & 0xff;
}

inline bool goes_through_inbox() {
  const char* const text = std::getenv("TEST_INBOX");
  return !text || std::strcmp(text, "none") != 0;
}
/// Unless TEST_INBOX is `small`: then TELPHER_STREAM_INBOX_LIMIT is 8k.
inline bool large_go_through_inbox() {
  const char* const text = std::getenv("TEST_INBOX");
  return !text || std::strcmp(text, "small") != 0;
}

/// Whether what was received last in a stream came as it should, if `messages` of `n` bytes may
/// have been under way at once: an inbox has room for 64 of up to 128 KB. The thread that knows it
/// may be later than the stream.
inline bool came_as_wanted(int messages, int n) {
  const bool wanted = goes_through_inbox();
  const bool fit =
      n <= (large_go_through_inbox() ? 1 << 20 : 8192) && messages * (n / 131072 + 1) < 64;
  if (wanted && !fit) return true;
  for (int looks = 0; looks < 5000 && wanted && last_path() != "inbox"; ++looks)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return (last_path() == "inbox") == wanted;
}

inline void send(const bytes& data, int n, int peer, int tag, MPI_Comm comm, void* stream,
                 std::size_t from = 0) {
  STREAM_CALL(telpher_send_enqueue)(data.data() + from, n, MPI_BYTE, peer, tag, comm, stream);
}
inline void receive(const bytes& data, int n, int peer, int tag, MPI_Comm comm, void* stream,
                    MPI_Status* status = MPI_STATUS_IGNORE) {
  STREAM_CALL(telpher_recv_enqueue)(data.data(), n, MPI_BYTE, peer, tag, comm, status, stream);
}

/// A pair of ranks, each with an inbox for the other one. The first one of a case mostly sends.
struct ends {
  explicit ends(suite& s) : peer(s.rank ^ 1), paired(peer < s.ranks), sends(s.rank < peer) {
    MPI_Comm_dup(s.control, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (!paired) return;
    const test_stream stream;
    bytes data(8, 1);
    for (int way = 0; way < 2; ++way) {
      if (sends == (way == 0))
        send(data, 8, peer, 0, comm, stream);
      else
        receive(data, 8, peer, 0, comm, stream);
    }
    stream.wait();
    s.meet(peer);
  }
  ~ends() { MPI_Comm_free(&comm); }
  ends(const ends&) = delete;
  ends& operator=(const ends&) = delete;
  int status(void* stream) const { return STREAM_CALL(telpher_stream_status)(stream); }

  int peer;
  bool paired, sends;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// `count` faces of `n` bytes each way in each round, far ahead of the streams. `begin(e, out, in)`
/// gives what exchange(statuses, stream) then has the stream do in each round: receives first, with
/// tags from 0 on, and as many sends.
template <class Begin>
void exchange_faces(suite& s, int n, int count, int rounds, Begin begin) {
  const ends e(s);
  if (!e.paired) return;
  const test_stream stream;
  const auto size = static_cast<std::size_t>(n), all = size * static_cast<std::size_t>(count);
  const std::size_t requests = 2 * static_cast<std::size_t>(count);
  bytes out(all, 0), in(all, 0), log(all * static_cast<std::size_t>(rounds), 0);
  auto exchange = begin(e, out, in);
  std::vector<MPI_Status> statuses(requests * static_cast<std::size_t>(rounds));
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d of %d faces of %d bytes", round, count, n);
    for (int i = 0; i < count; ++i)
      stream.set(out.data() + i * n, sent_byte(round * count + i, s.rank), size);
    exchange(&statuses[requests * static_cast<std::size_t>(round)], stream);
    stream.set(out.data(), 0, all);
    stream.copy(log.data() + static_cast<std::size_t>(round) * all, in.data(), all);
  }
  stream.wait();
  for (int i = 0; i < rounds * count; ++i)
    s.expect(log.all(sent_byte(i, e.peer), static_cast<std::size_t>(i) * size, size), "a face");
  for (std::size_t i = 0; i < statuses.size(); ++i)
    if (const auto face = static_cast<int>(i % requests); face < count)
      s.expect_status(statuses[i], e.peer, face, size);
  s.expect_equal(e.status(stream), MPI_SUCCESS, "the stream's status");
  s.expect(came_as_wanted(rounds * count, n), "the way of the last message");
}

/// The cases of it. `faces(n, count, rounds)` runs one.
template <class Faces>
void run_faces(suite& s, Faces faces) {
  s.run("one face", [&] { faces(8, 1, 50); });
  s.run("two faces", [&] { faces(500, 2, 200); });
  s.run("six faces", [&] { faces(3000, 6, 20); });
  s.run("many faces", [&] { faces(16, 100, 3); });
  s.run("a large face", [&] { faces(8192, 2, 20); });
  s.run("larger faces", [&] { faces(60000, 3, 6); });
  s.run("the largest faces", [&] { faces(1000000, 2, 3); });
  s.run("the largest faces/far ahead", [&] { faces(1 << 20, 2, 12); });
}

}  // namespace mpi_test
