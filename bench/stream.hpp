// SPDX-License-Identifier: BSD-3-Clause
// MPI in the order of a stream, for --enqueue: a stream of the active back end, what a program may
// do there before a message, and the calls that enqueue, looked up by name. A failed call ends the
// job with a message.
#pragma once

#include <mpi.h>

#include "collective.hpp"
#include "memory.hpp"

namespace telpher::bench {

class stream {
 public:
  /// `work_bytes`: how much device memory work() fills.
  stream(memory_source& source, std::size_t work_bytes);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Whether the library in the process has these calls, and a device to make streams on.
  static bool present(memory_source& source);
  /// Whether a collective can be enqueued here. A persistent one can always, as a request.
  static bool supports(const collective& c, form how);

  /// What stands for the program's kernel; in the stream.
  void work();
  void wait();
  void send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);
  void receive(void* to, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm);
  void call(const collective& c, const arguments& a);
  /// Of a persistent request that is matched: collective.
  static void match(MPI_Request request);
  /// Starts it, and waits for it, in the stream.
  void run(MPI_Request& request);

 private:
  memory_source& source_;
  std::size_t work_bytes_;
  void* work_at_ = nullptr;
  void* native_ = nullptr;
};

}  // namespace telpher::bench
