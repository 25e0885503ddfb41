// SPDX-License-Identifier: BSD-3-Clause
// Errors of operations in the order of streams: wrong calls are refused, a stream goes on after an
// operation that failed, and nothing waits for ever for a device that has. With
// TEST_LEVEL=funneled: what is said where the MPI runs below MPI_THREAD_MULTIPLE.
#include "emulated.hpp"
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

void errors(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int peer = s.rank ^ 1;
  const test_stream stream;
  bytes data(4000, 1);
  const auto status = STREAM_CALL(telpher_stream_status);
  if (peer < s.ranks) {
    if (s.rank < peer) {
      STREAM_CALL(telpher_recv_enqueue)
      (data.data(), 100, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE, stream);
      stream.set(data.data(), 6, 4000);
      stream.wait();
      s.expect_class(status(stream), MPI_ERR_TRUNCATE, "a message that is too long");
      s.expect(data.all(6), "the stream goes on after an error");
      s.expect_equal(status(stream), MPI_SUCCESS, "asked again");
    } else {
      MPI_Send(data.data(), 4000, MPI_BYTE, peer, 1, comm);
    }
  }
  STREAM_CALL(telpher_send_enqueue)(data.data(), 10, MPI_BYTE, s.ranks + 3, 1, comm, stream);
  stream.wait();
  s.expect_class(status(stream), MPI_ERR_RANK, "a rank that is not there");
  MPI_Request r;
  STREAM_CALL(telpher_isend_enqueue)(data.data(), 10, MPI_BYTE, s.ranks + 3, 1, comm, &r, stream);
  s.expect_class(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_RANK, "its request says so");
  status(stream);
  MPI_Comm_free(&comm);
}

/// A stream of a device that has failed never gets to its operation, which ends with an error.
void failed_device(suite& s) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0) return;
  const test_stream stream;
  bytes data(10, 1);
  gate g;
  g.hold(stream);
  MPI_Request r;
  STREAM_CALL(telpher_isend_enqueue)
  (data.data(), 10, MPI_BYTE, 0, 1, MPI_COMM_SELF, &r, stream);
  set_faults("event:1+");
  s.expect_class(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "its request");
  set_faults("");
  s.expect_class(STREAM_CALL(telpher_stream_status)(stream), MPI_ERR_OTHER, "the stream's status");
  g.open();
  stream.wait();
}

/// Copies fail while a stream waits for the message: it goes on, and its status says why.
void failed_copies(suite& s) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  const int peer = s.rank ^ 1;
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0) return;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const test_stream stream;
  bytes data(300000, 1);
  int token = 0;
  if (s.rank < peer && peer < s.ranks) {
    STREAM_CALL(telpher_recv_enqueue)
    (data.data(), data.count(), MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE, stream);
    set_faults("memcpy:1+,launch:1+");
    MPI_Send(&token, 1, MPI_INT, peer, 2, s.control);
    stream.wait();
    set_faults("");
    s.expect_class(STREAM_CALL(telpher_stream_status)(stream), MPI_ERR_OTHER, "a failed copy");
    stream.set(data.data(), 6, 300000);
    stream.wait();
    s.expect(data.all(6), "the stream goes on");
  } else if (peer < s.ranks) {
    MPI_Recv(&token, 1, MPI_INT, peer, 2, s.control, MPI_STATUS_IGNORE);
    MPI_Send(data.data(), data.count(), MPI_BYTE, peer, 1, comm);
  }
  MPI_Comm_free(&comm);
}

/// All that is enqueued behind work which never ends is over when the device has failed, and a call
/// that waits for room comes back.
void failed_ahead(suite& s) {
  const auto set_faults = emulated<void(const char*)>("telpher_emu_faults");
  if (!set_faults || std::strcmp(backend_name(), "emu") != 0) return;
  const test_stream stream;
  bytes out(10, 1), in(10, 0);
  gate g;
  g.hold(stream);
  set_faults("event:1+");
  for (int i = 0; i < 100; ++i)  // TELPHER_STREAM_AHEAD is 64
    STREAM_CALL(telpher_sendrecv_enqueue)
  (out.data(), 10, MPI_BYTE, 0, 1, in.data(), 10, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE,
   stream);
  set_faults("");
  g.open();
  stream.wait();
  s.expect_class(STREAM_CALL(telpher_stream_status)(stream), MPI_ERR_OTHER, "the stream's status");
  s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "asked again");
}

void wrong_use(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &before);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  bytes data(4000, 1);
  int no_stream = 0;
  if (std::strcmp(backend_name(), "emu") == 0)  // vendors do not look
    s.expect_class(
        STREAM_CALL(telpher_send_enqueue)(data.data(), 10, MPI_BYTE, 0, 1, comm, &no_stream),
        MPI_ERR_ARG, "no stream");
  const test_stream stream;
  MPI_Request r;
  MPI_Irecv(data.data(), 10, MPI_BYTE, s.rank, 1, comm, &r);
  s.expect_class(STREAM_CALL(telpher_wait_enqueue)(&r, MPI_STATUS_IGNORE, stream), MPI_ERR_REQUEST,
                 "an ordinary request");
  MPI_Send(data.data() + 100, 10, MPI_BYTE, s.rank, 1, comm);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  s.expect_class(STREAM_CALL(telpher_waitall_enqueue)(-1, &r, MPI_STATUSES_IGNORE, stream),
                 MPI_ERR_COUNT, "a negative number of requests");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, before);
  MPI_Errhandler_free(&before);
  MPI_Comm_free(&comm);
}

/// The first collective of a kind is refused at one rank, which then makes the right call. Kernels
/// serve such calls once ranks have agreed on them: all ranks begin to ask with the same call.
void refused_first(suite& s) {
  if (std::strcmp(backend_name(), "emu") != 0) return;  // vendors do not look
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr int n = 100;
  buffer data(kind::device, n * sizeof(int));
  data.clear();
  int no_stream = 0;
  const auto sum = [&](void* in) {
    return STREAM_CALL(telpher_allreduce_enqueue)(MPI_IN_PLACE, data.data(), n, MPI_INT, MPI_MAX,
                                                  comm, in);
  };
  if (s.rank == 0) s.expect_class(sum(&no_stream), MPI_ERR_ARG, "no stream");
  const std::vector<int> given(n, s.rank), wanted(n, s.ranks - 1);
  data.write(reinterpret_cast<const unsigned char*>(given.data()), n * sizeof(int));
  const test_stream stream;
  for (int call = 0; call < 40; ++call) s.expect_class(sum(stream), MPI_SUCCESS, "the right call");
  stream.wait();
  s.expect_none(data.compare(reinterpret_cast<const unsigned char*>(wanted.data())));
  MPI_Comm_free(&comm);
}

/// A count that reaches beyond the buffer's allocation: an error of the send, and nothing is read.
void beyond_the_allocation(suite& s) {
  const int peer = s.rank ^ 1;
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  constexpr std::size_t whole = 4 << 20;
  const test_stream stream;
  bytes data(whole, 1);
  if (s.rank < peer && peer < s.ranks) {
    const auto send = [&](std::size_t from, int n) {
      STREAM_CALL(telpher_send_enqueue)
      (data.data() + from, n, MPI_BYTE, peer, 1, comm, stream);
      stream.wait();
      return STREAM_CALL(telpher_stream_status)(stream);
    };
    // MPI_ERR_ARG; where such memory might lie in several allocations, an unsupported operation.
    s.expect(send(whole - 100, 4000) != MPI_SUCCESS, "a send beyond the allocation is an error");
    s.expect_equal(send(whole - 100, 100), MPI_SUCCESS, "one up to its end");
  } else if (peer < s.ranks) {
    // It has room for more than comes, which is no error.
    STREAM_CALL(telpher_recv_enqueue)
    (data.data() + whole - 100, 4000, MPI_BYTE, peer, 1, comm, MPI_STATUS_IGNORE, stream);
    stream.wait();
    s.expect_equal(STREAM_CALL(telpher_stream_status)(stream), MPI_SUCCESS, "its receive");
  }
  MPI_Comm_free(&comm);
}

/// While the thread that serves streams asks the host MPI for a message, which changes the handler
/// of MPI_COMM_SELF for moments over some MPIs.
void handler_of_self(suite& s) {
  const int peer = s.rank ^ 1;
  if (peer >= s.ranks) return;
  const test_stream stream;
  bytes data(50000, 0);
  MPI_Errhandler suites;
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &suites);
  STREAM_CALL(telpher_recv_enqueue)
  (data.data(), 50000, MPI_BYTE, peer, 1, s.control, MPI_STATUS_IGNORE, stream);
  for (int round = 0; round < 3000; ++round) {
    const bool own = round % 2 == 1;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, own ? suites : MPI_ERRORS_RETURN);
    std::this_thread::sleep_for(std::chrono::microseconds(round % 7));
    MPI_Errhandler found;
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &found);
    s.expect(found == (own ? suites : MPI_ERRORS_RETURN), "the handler is what was set");
    if (found != MPI_ERRORS_RETURN) MPI_Errhandler_free(&found);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, suites);
  MPI_Errhandler_free(&suites);
  const test_stream other;
  STREAM_CALL(telpher_send_enqueue)(data.data(), 50000, MPI_BYTE, peer, 1, s.control, other);
  other.wait();
  stream.wait();
}

/// The level that the program got decides, which TELPHER_STREAMS=on raises.
void level(suite& s) {
  MPI_Comm comm;
  MPI_Comm_dup(s.control, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool raised = std::getenv("TELPHER_STREAMS") != nullptr;
  s.expect(raised == (s.provided == MPI_THREAD_MULTIPLE), "the level of threads");
#ifndef __SANITIZE_THREAD__  // its own thread forbids to change the environment
  if (raised)
    for (const char* variable : {"CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING"})
      s.expect(std::getenv(variable) != nullptr, variable);
#endif
  const test_stream stream;
  const int code = STREAM_CALL(telpher_barrier_enqueue)(comm, stream);
  s.expect_class(code, raised ? MPI_SUCCESS : MPI_ERR_OTHER, "a call that enqueues");
  stream.wait();
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const bool low = std::getenv("TEST_LEVEL") != nullptr;
  suite s(&argc, &argv, 2, low ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE);
  if (low) {
    s.run("level", [&] { level(s); });
    return s.finish();
  }
  s.run("errors", [&] { errors(s); });
  s.run("failed device", [&] { failed_device(s); });
  s.run("failed copies", [&] { failed_copies(s); });
  s.run("failed ahead", [&] { failed_ahead(s); });
  s.run("wrong use", [&] { wrong_use(s); });
  s.run("refused first", [&] { refused_first(s); });
  s.run("handler of MPI_COMM_SELF", [&] { handler_of_self(s); });
  s.run("beyond the allocation", [&] { beyond_the_allocation(s); });
  return s.finish();
}
