// SPDX-License-Identifier: BSD-3-Clause
// A persistent request that telpher_match may hand over to streams, which alone start it then and
// wait for it (matching.hpp).
#pragma once

#include <cstdio>

#include "host_mpi/error.hpp"
#include "memory/memory.hpp"
#include "mpi/request_kinds.hpp"

namespace telpher::mpi {

class stream_request : public request_object {
 public:
  /// The device whose streams start it; null: it is not matched.
  virtual const memory::place* matched_at() const noexcept = 0;
  /// Raises an error of the program's use of this request.
  int misused(const char* call, int error_class, const char* why) const noexcept {
    return host_mpi::fail_with(errors_.owner(), call, error_class, why);
  }

  /// It was started in a stream and not waited for yet.
  bool in_stream = false;

 protected:
  explicit stream_request(MPI_Comm comm) noexcept : errors_(comm) {}
  int refuse_start() const noexcept {
    return misused("MPI_Start", MPI_ERR_REQUEST,
                   "the request was matched for streams: start it by telpher_start_enqueue");
  }
  /// The request stays as it is: a stream may still wait for it.
  int refuse_wait() const noexcept {
    return misused("MPI_Wait", MPI_ERR_REQUEST,
                   "the request was started in a stream by telpher_start_enqueue: it is complete "
                   "once a stream has passed telpher_wait_enqueue");
  }

  host_mpi::kept_comm errors_;
};

/// Null: it is none.
inline stream_request* find_stream_request(MPI_Request request) noexcept {
  return dynamic_cast<stream_request*>(find(request));
}

/// Raises an error of one of a call's requests.
inline int refuse_request(const char* call, int error_class, int index, const char* why) noexcept {
  char text[200];
  std::snprintf(text, sizeof text, "request %d: %s", index, why);
  return host_mpi::fail_with(MPI_COMM_SELF, call, error_class, text);
}

}  // namespace telpher::mpi
