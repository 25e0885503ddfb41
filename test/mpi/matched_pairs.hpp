// SPDX-License-Identifier: BSD-3-Clause
// For tests of matched requests: a pair of them with its memory, and short forms of the calls.
#pragma once

#include "stream_calls.hpp"

namespace mpi_test {

/// What is matched must go by the devices alone.
inline bool by_devices() {
  const char* const way = std::getenv("TEST_MATCHED");
  return !way || std::string(way) == "devices";
}

/// A matched send to `peer` and a receive from it, or one of them.
class pair {
 public:
  pair(suite& s, int peer, std::size_t out_bytes, std::size_t in_bytes, int tag = 3)
      : out(out_bytes, 0), in(in_bytes, 0), errors_(s) {
    if (out_bytes > 0) STREAM_CALL(telpher_matched_send_init)
    (out.data(), out.count(), MPI_BYTE, peer, tag, s.control, &send);
    if (in_bytes > 0) STREAM_CALL(telpher_matched_recv_init)
    (in.data(), in.count(), MPI_BYTE, peer, tag, s.control, &receive);
  }
  ~pair() {
    for (MPI_Request* r : {&send, &receive})
      if (*r != MPI_REQUEST_NULL) MPI_Request_free(r);
  }
  std::vector<MPI_Request> both() const {
    std::vector<MPI_Request> list;
    for (const MPI_Request r : {send, receive})
      if (r != MPI_REQUEST_NULL) list.push_back(r);
    return list;
  }
  void match() {
    auto list = both();
    errors_.expect_equal(STREAM_CALL(telpher_match)(static_cast<int>(list.size()), list.data()),
                         MPI_SUCCESS, "telpher_match");
  }

  bytes out, in;
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;

 private:
  suite& errors_;
};

class own_comm {
 public:
  explicit own_comm(const suite& s, MPI_Errhandler errors = MPI_ERRORS_ARE_FATAL) {
    MPI_Comm_dup(s.control, &comm_);
    MPI_Comm_set_errhandler(comm_, errors);
  }
  ~own_comm() { MPI_Comm_free(&comm_); }
  own_comm(const own_comm&) = delete;
  own_comm& operator=(const own_comm&) = delete;
  operator MPI_Comm() const { return comm_; }

 private:
  MPI_Comm comm_;
};

inline void start(MPI_Request r, void* stream) {
  STREAM_CALL(telpher_start_enqueue)(r, stream);
}
inline void wait(MPI_Request r, void* stream, MPI_Status* status = MPI_STATUS_IGNORE) {
  STREAM_CALL(telpher_wait_enqueue)(&r, status, stream);
}

}  // namespace mpi_test
