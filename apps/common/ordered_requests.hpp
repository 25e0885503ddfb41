// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <telpher/stream.h>

#include <vector>

#include "common/gpu.hpp"

namespace apps {

/// Persistent requests that are matched once, and then run in the order of a queue as often as one
/// likes. Nobody waits for the queue, before or after.
class ordered_requests {
 public:
  ordered_requests() = default;
  ordered_requests(const ordered_requests&) = delete;
  ordered_requests& operator=(const ordered_requests&) = delete;
  ~ordered_requests() {
    for (MPI_Request& r : all_) MPI_Request_free(&r);
  }

  MPI_Request* next() { return &all_.emplace_back(MPI_REQUEST_NULL); }
  /// All ranks that they concern.
  void match() { telpher_match(count(), all_.data()); }
  void run(queue& q) {
    telpher_startall_enqueue(count(), all_.data(), q.stream());
    telpher_waitall_enqueue(count(), all_.data(), MPI_STATUSES_IGNORE, q.stream());
  }

 private:
  int count() const { return static_cast<int>(all_.size()); }
  std::vector<MPI_Request> all_;
};

}  // namespace apps
