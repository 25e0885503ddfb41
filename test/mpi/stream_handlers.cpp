// SPDX-License-Identifier: BSD-3-Clause
// Error handlers that enqueue on the stream whose operation has failed. They run in the thread that
// serves streams, while a thread of the program waits for room there.
#include "stream_calls.hpp"

using namespace mpi_test;

namespace {

struct answer {
  void* stream;
  const bytes* data;
  int peer, enqueued;
};
answer* in_handler = nullptr;

void enqueue_answer(MPI_Comm* comm, int*, ...) {
  answer& a = *in_handler;
  MPI_Request r;
  usleep(100000);  // the program's thread is at its next call by now
  STREAM_CALL(telpher_isend_enqueue)
  (a.data->data(), 10, MPI_BYTE, a.peer, 2, *comm, &r, a.stream);
  MPI_Request_free(&r);
  ++a.enqueued;
}

/// As many operations as the stream has room for, of which the first fails, and two more.
void receive_with_handler(suite& s, MPI_Comm comm) {
  const test_stream stream;
  const bytes in(4000, 9), out(10, 5);
  answer a{stream, &out, 0, 0};
  in_handler = &a;
  for (int i = 0; i < 4; ++i) STREAM_CALL(telpher_recv_enqueue)
  (in.data(), 100, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE, stream);
  stream.wait();
  s.expect_equal(a.enqueued, 1, "calls of the handler");
}

void send_to_handler(suite& s, MPI_Comm comm) {
  const bytes out(4000, 3), in(10, 0);
  usleep(50000);  // the receives are enqueued
  for (const int count : {4000, 10, 10, 10}) MPI_Send(out.data(), count, MPI_BYTE, 1, 1, comm);
  MPI_Recv(in.data(), 10, MPI_BYTE, 1, 2, comm, MPI_STATUS_IGNORE);
  s.expect(in.all(5, 0, 10), "what the handler sent");
}

void handler_enqueues(suite& s) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, s.rank / 2, s.rank, &pair);
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(enqueue_answer, &handler);
  MPI_Comm_set_errhandler(pair, handler);
  MPI_Errhandler_free(&handler);
  if (s.rank % 2 == 1)
    receive_with_handler(s, pair);
  else if (s.rank + 1 < s.ranks)
    send_to_handler(s, pair);
  MPI_Comm_free(&pair);
}

}  // namespace

int main(int argc, char** argv) {
  suite s(&argc, &argv, 2, MPI_THREAD_MULTIPLE);
  if (s.has_threads()) s.run("handler enqueues", [&] { handler_enqueues(s); });
  return s.finish();
}
