// SPDX-License-Identifier: BSD-3-Clause
// Operations in the order of streams: what a stream does before and after them needs no wait of the
// CPU, a late rank holds up a stream and no thread, and MPICH's names do the same.
#include "cuda_driver.hpp"
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

constexpr std::size_t sizes[] = {1, 8, 3000, 100000, 2000000};

int sent_byte(int round, int rank) {
  return (round * 16 + rank + 1) & 0xff;
}

/// Both ends in streams; nothing waits on the CPU before the end.
void ping_pong(suite& s, std::size_t size, int rounds) {
  const int peer = s.rank ^ 1, n = as_int(size);
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes out(size, 0), in(size, 0), log(size * static_cast<std::size_t>(rounds), 0);
  const bool first = s.rank < peer;
  for (int round = 0; round < rounds; ++round) {
    s.note("round %d of %d bytes", round, n);
    stream.set(out.data(), sent_byte(round, s.rank), size);
    if (first)
      STREAM_CALL(telpher_send_enqueue)(out.data(), n, MPI_BYTE, peer, 5, MPI_COMM_WORLD, stream);
    STREAM_CALL(telpher_recv_enqueue)
    (in.data(), n, MPI_BYTE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream);
    if (!first)
      STREAM_CALL(telpher_send_enqueue)(out.data(), n, MPI_BYTE, peer, 5, MPI_COMM_WORLD, stream);
    stream.copy(log.data() + static_cast<std::size_t>(round) * size, in.data(), size);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(sent_byte(round, peer), static_cast<std::size_t>(round) * size, size),
             "what came in a round");
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "the stream's status");
}

/// A stream that is held up sends when it gets there, to an ordinary receive.
void held_send(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  bytes data(50000, 1);
  int token = 0;
  if (s.rank < peer) {
    const test_stream stream;
    gate g;
    g.hold(stream);
    stream.set(data.data(), 7, 50000);
    STREAM_CALL(telpher_send_enqueue)
    (data.data(), data.count(), MPI_BYTE, peer, 1, MPI_COMM_WORLD, stream);
    stream.set(data.data(), 9, 50000);
    MPI_Recv(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    g.open();
    stream.wait();
    s.expect(data.all(9), "the stream went on");
  } else {
    MPI_Request r;
    MPI_Irecv(data.data(), data.count(), MPI_BYTE, peer, 1, MPI_COMM_WORLD, &r);
    int done = 0;
    MPI_Test(&r, &done, MPI_STATUS_IGNORE);
    s.expect(!done, "the message waits for the stream");
    MPI_Send(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    s.expect(data.all(7), "what the stream had written before");
  }
}

/// The calls return while the other rank has not come, which hears of it by a message afterwards.
void late(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes data(20000, 1), copy(20000, 0);
  int token = 0;
  if (s.rank < peer) {
    STREAM_CALL(telpher_recv_enqueue)
    (data.data(), data.count(), MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream);
    stream.copy(copy.data(), data.data(), 20000);
    MPI_Send(&token, 1, MPI_INT, peer, 4, MPI_COMM_WORLD);
    stream.wait();
    s.expect(copy.all(5), "what came late");
  } else {
    MPI_Recv(&token, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    data.set(5);
    MPI_Send(data.data(), data.count(), MPI_BYTE, peer, 3, MPI_COMM_WORLD);
  }
}

/// One stream waits for what another one sends; communicators are separate as ever.
void several(suite& s) {
  const int peer = s.rank ^ 1;
  MPI_Comm other;
  MPI_Comm_dup(s.control, &other);
  if (peer >= s.ranks) {
    MPI_Comm_free(&other);
    return;
  }
  const test_stream a, b;
  bytes in(3000, 0), in2(3000, 0), out(3000, 0), out2(3000, 0);
  gate g;
  STREAM_CALL(telpher_recv_enqueue)
  (in.data(), 3000, MPI_BYTE, peer, 1, s.control, MPI_STATUS_IGNORE, a);
  STREAM_CALL(telpher_recv_enqueue)
  (in2.data(), 3000, MPI_BYTE, peer, 1, other, MPI_STATUS_IGNORE, a);
  g.hold(b);
  b.set(out2.data(), 22, 3000);
  STREAM_CALL(telpher_send_enqueue)(out2.data(), 3000, MPI_BYTE, peer, 1, other, b);
  b.set(out.data(), 11, 3000);
  STREAM_CALL(telpher_send_enqueue)(out.data(), 3000, MPI_BYTE, peer, 1, s.control, b);
  g.open();
  a.wait();
  b.wait();
  s.expect(in.all(11) && in2.all(22), "each communicator's own message");
  MPI_Comm_free(&other);
}

/// Requests: waited for in the stream, in another one, and on the CPU; beside ordinary calls.
void requests_of_streams(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes in(3 * 9000, 0), out(9000, 0);
  for (int round = 0; round < 5; ++round) {
    MPI_Request r[4];
    MPI_Status statuses[2];
    stream.set(out.data(), 10 + round, 9000);
    for (int i = 0; i < 2; ++i) STREAM_CALL(telpher_irecv_enqueue)
    (in.data() + i * 9000, 9000, MPI_BYTE, peer, i, MPI_COMM_WORLD, &r[i], stream);
    for (int i = 0; i < 2; ++i) STREAM_CALL(telpher_isend_enqueue)
    (out.data(), 9000, MPI_BYTE, peer, i, MPI_COMM_WORLD, &r[2 + i], stream);
    MPI_Sendrecv_replace(&round, 1, MPI_INT, peer, 77, peer, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    STREAM_CALL(telpher_waitall_enqueue)(2, r, statuses, stream);
    s.expect(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "handles of a wait in a stream");
    stream.copy(in.data() + 2 * 9000, in.data() + 9000, 9000);
    MPI_Waitall(2, r + 2, MPI_STATUSES_IGNORE);
    stream.wait();
    s.expect(in.all(10 + round), "what came by requests");
    s.expect_status(statuses[1], peer, 1, 9000);
  }
}

/// A stream sends only when it has what the peer sends behind a barrier, which the peer's receive
/// must not hold up.
void behind_barrier(suite& s, std::size_t size) {
  const int peer = s.rank ^ 1, n = as_int(size);
  const bool pairs = peer < s.ranks;
  bytes in(size, 0), out(size, 40 + s.rank);
  if (pairs && s.rank < peer) {
    const test_stream stream;
    STREAM_CALL(telpher_recv_enqueue)
    (in.data(), n, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream);
    STREAM_CALL(telpher_send_enqueue)(out.data(), n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, stream);
    MPI_Barrier(MPI_COMM_WORLD);
    stream.wait();
  } else if (pairs) {
    MPI_Request r;
    int done = 0;
    MPI_Irecv(in.data(), n, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &r);
    for (int look = 0; look < 50 && !done; ++look) {
      MPI_Test(&r, &done, MPI_STATUS_IGNORE);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    s.expect(!done, "the stream waits");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(out.data(), n, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (pairs) s.expect(in.all(40 + peer), "what came behind a barrier");
}

void persistent(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  constexpr int rounds = 6;
  bytes in(7000, 0), out(7000, 0), log(7000 * rounds, 0);
  MPI_Request r[2];
  MPI_Recv_init(in.data(), 7000, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &r[0]);
  MPI_Send_init(out.data(), 7000, MPI_BYTE, peer, 8, MPI_COMM_WORLD, &r[1]);
  for (int round = 0; round < rounds; ++round) {
    stream.set(out.data(), sent_byte(round, s.rank), 7000);
    if (round % 2)
      STREAM_CALL(telpher_startall_enqueue)(2, r, stream);
    else
      for (MPI_Request one : r) STREAM_CALL(telpher_start_enqueue)(one, stream);
    STREAM_CALL(telpher_waitall_enqueue)(2, r, MPI_STATUSES_IGNORE, stream);
    stream.copy(log.data() + round * 7000, in.data(), 7000);
  }
  stream.wait();
  for (int round = 0; round < rounds; ++round)
    s.expect(log.all(sent_byte(round, peer), static_cast<std::size_t>(round) * 7000, 7000),
             "a round of persistent requests");
  for (MPI_Request& one : r) MPI_Request_free(&one);
}

/// A program may run ahead of its streams by more than a device has room for.
void far_ahead(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  constexpr int n = 20000;  // copied in a stream of ours, not by the CPU
  bytes out(n, 0), in(n, 0);
  for (int round = 0; round < 600; ++round) {
    s.note("round %d", round);
    stream.set(out.data(), sent_byte(round, s.rank), n);
    STREAM_CALL(telpher_sendrecv_enqueue)
    (out.data(), n, MPI_BYTE, peer, 6, in.data(), n, MPI_BYTE, peer, 6, MPI_COMM_WORLD,
     MPI_STATUS_IGNORE, stream);
  }
  stream.wait();
  s.expect(in.all(sent_byte(599, peer)), "the last round");
}

/// What a thread of per_thread sends and gets. Its memory is made and freed while nothing waits.
struct default_stream_user {
  static constexpr int n = 5000, rounds = 20;
  bytes out{n, 0}, in{n, 0}, log{n * rounds, 0};
  int status = MPI_SUCCESS;

  void exchange(int peer, int tag, bool late, MPI_Comm comm) {
    void* const own = reinterpret_cast<void*>(2);
    for (int round = 0; round < rounds; ++round) {
      if (late && round == 10) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      STREAM_CALL(telpher_memset_async)(out.data(), round + tag, n, own);
      STREAM_CALL(telpher_sendrecv_enqueue)
      (out.data(), n, MPI_BYTE, peer, tag, in.data(), n, MPI_BYTE, peer, tag, comm,
       MPI_STATUS_IGNORE, own);
      STREAM_CALL(telpher_memcpy_async)(log.data() + round * n, in.data(), n, own);
      if (round % 5 == 4) STREAM_CALL(telpher_stream_synchronize)(own);
    }
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    const int to = tag == 0 ? MPI_PROC_NULL : ranks + 3;
    STREAM_CALL(telpher_send_enqueue)(out.data(), 1, MPI_BYTE, to, 1, comm, own);
    STREAM_CALL(telpher_stream_synchronize)(own);
    status = STREAM_CALL(telpher_stream_status)(own);
  }
  bool came(int tag) const {
    for (int round = 0; round < rounds; ++round)
      if (!log.all(round + tag, static_cast<std::size_t>(round) * n, n)) return false;
    return true;
  }
};

/// Each thread has a default stream of its own, by one handle.
void per_thread(suite& s) {
  const int peer = s.rank ^ 1;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (peer < s.ranks) {
    default_stream_user of[2];
    const test_stream of_device;  // CUDA's own handle means a stream of the thread's current device
    std::thread other([&] {
      const cuda_driver::current_context there(of_device);
      of[0].exchange(peer, 0, s.rank == 0, comm);
    });
    const cuda_driver::current_context here(of_device);
    of[1].exchange(peer, 1, s.rank == 1, comm);
    other.join();
    s.expect(of[0].came(0) && of[1].came(1), "what came in a thread's own stream");
    s.expect_equal(of[0].status, MPI_SUCCESS, "a thread's own stream's status");
    s.expect_class(of[1].status, MPI_ERR_RANK, "the status of another thread's");
  }
  MPI_Comm_free(&comm);
}

// --- MPICH's names ---

/// The large-count forms, after which `in` has what `out` had.
void mpix_large_counts(const test_stream& stream, bytes& out, bytes& in, int peer, MPI_Comm comm) {
  MPI_Request r[2];
  stream.set(in.data(), 0, 6000);
  STREAM_CALL(MPIX_Irecv_enqueue_c)(in.data(), 2000, MPI_BYTE, peer, 3, comm, &r[0]);
  STREAM_CALL(MPIX_Isend_enqueue_c)(out.data(), 2000, MPI_BYTE, peer, 3, comm, &r[1]);
  STREAM_CALL(MPIX_Waitall_enqueue)(2, r, MPI_STATUSES_IGNORE);
  STREAM_CALL(MPIX_Irecv_enqueue_c)(in.data() + 2000, 1000, MPI_BYTE, peer, 4, comm, &r[0]);
  STREAM_CALL(MPIX_Send_enqueue_c)(out.data(), 1000, MPI_BYTE, peer, 4, comm);
  STREAM_CALL(MPIX_Wait_enqueue)(&r[0], MPI_STATUS_IGNORE);
  STREAM_CALL(MPIX_Isend_enqueue_c)(out.data(), 3000, MPI_BYTE, peer, 5, comm, &r[1]);
  STREAM_CALL(MPIX_Recv_enqueue_c)
  (in.data() + 3000, 3000, MPI_BYTE, peer, 5, comm, MPI_STATUS_IGNORE);
  STREAM_CALL(MPIX_Wait_enqueue)(&r[1], MPI_STATUS_IGNORE);
}

void mpix(suite& s, const char* type) {
  const int peer = s.rank ^ 1;
  const test_stream stream;
  void* native = stream;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "type", type);
  STREAM_CALL(MPIX_Info_set_hex)(info, "value", &native, sizeof native);
  MPIX_Stream handle = MPIX_STREAM_NULL, found = MPIX_STREAM_NULL;
  s.expect_equal(STREAM_CALL(MPIX_Stream_create)(info, &handle), MPI_SUCCESS, "a stream");
  MPI_Info_free(&info);
  MPI_Comm comm;
  STREAM_CALL(MPIX_Stream_comm_create)(MPI_COMM_WORLD, handle, &comm);
  STREAM_CALL(MPIX_Comm_get_stream)(comm, 0, &found);
  s.expect(found == handle, "the communicator's stream");
  bytes in(6000, 0), out(6000, 0), sum(64, 0), log(64, 0);
  if (peer < s.ranks) {
    const bool first = s.rank < peer;
    stream.set(out.data(), 3, 6000);
    if (first) STREAM_CALL(MPIX_Send_enqueue)(out.data(), 3000, MPI_BYTE, peer, 1, comm);
    STREAM_CALL(MPIX_Recv_enqueue)
    (in.data(), 3000, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE);
    if (!first) STREAM_CALL(MPIX_Send_enqueue)(out.data(), 3000, MPI_BYTE, peer, 1, comm);
    MPI_Request r[2];
    STREAM_CALL(MPIX_Irecv_enqueue)(in.data() + 3000, 3000, MPI_BYTE, peer, 2, comm, &r[0]);
    STREAM_CALL(MPIX_Isend_enqueue)(in.data(), 3000, MPI_BYTE, peer, 2, comm, &r[1]);
    STREAM_CALL(MPIX_Wait_enqueue)(&r[0], MPI_STATUS_IGNORE);
    s.expect_equal(STREAM_CALL(MPIX_Wait_enqueue)(&r[0], MPI_STATUS_IGNORE), MPI_SUCCESS,
                   "a null request");
    s.expect_equal(STREAM_CALL(MPIX_Waitall_enqueue)(2, r, MPI_STATUSES_IGNORE), MPI_SUCCESS,
                   "a null request before another");
    s.expect_equal(STREAM_CALL(MPIX_Waitall_enqueue)(0, r, MPI_STATUSES_IGNORE), MPI_SUCCESS,
                   "no requests");
    mpix_large_counts(stream, out, in, peer, comm);
  }
  stream.set(out.data(), 2, 64);
  STREAM_CALL(MPIX_Allreduce_enqueue)
  (out.data(), sum.data(), 64, MPI_UNSIGNED_CHAR, MPI_SUM, comm);
  stream.copy(log.data(), sum.data(), 64);
#if MPI_VERSION >= 4
  STREAM_CALL(MPIX_Allreduce_enqueue_c)
  (log.data(), sum.data(), 64, MPI_UNSIGNED_CHAR, MPI_MAX, comm);
  stream.copy(log.data(), sum.data(), 64);
#endif
  stream.wait();
  if (peer < s.ranks) s.expect(in.all(3), "what came by MPICH's names");
  s.expect(log.all(2 * s.ranks), "the sum");
  MPI_Comm_free(&comm);
  STREAM_CALL(MPIX_Stream_free)(&handle);
  s.expect(handle == MPIX_STREAM_NULL, "the stream's handle");
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  for (const std::size_t size : sizes)
    s.run("ping pong/" + std::to_string(size), [&] { ping_pong(s, size, size > 100000 ? 4 : 15); });
  s.run("held send", [&] { held_send(s); });
  s.run("late", [&] { late(s); });
  s.run("several", [&] { several(s); });
  s.run("requests", [&] { requests_of_streams(s); });
  s.run("far ahead", [&] { far_ahead(s); });
  s.run("per thread", [&] { per_thread(s); });
  s.run("persistent", [&] { persistent(s); });
  for (const std::size_t size : {sizes[1], sizes[2], sizes[4]})
    s.run("behind a barrier/" + std::to_string(size), [&] { behind_barrier(s, size); });
  for (const char* type : {"telpher_stream", "cudaStream_t", "hipStream_t"})
    s.run(std::string("mpix, ") + type, [&] { mpix(s, type); });
  return s.finish();
}
