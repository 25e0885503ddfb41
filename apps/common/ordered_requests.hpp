// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <telpher/stream.h>

#include <stdexcept>
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
  /// The sum over all ranks, in place. Open MPI 5 has MPI 4's call but calls itself MPI 3.1.
  void add_sum(double* device) {
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
    MPI_Allreduce_init(MPI_IN_PLACE, device, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                       next());
#else
    static_cast<void>(device);
    throw std::runtime_error("sums in the order of a queue need MPI 4's persistent collectives");
#endif
  }
  /// All ranks that they concern.
  void match() {
    telpher_match(count(), all_.data());
  }
  void run(queue& q) {
    telpher_startall_enqueue(count(), all_.data(), q.stream());
    telpher_waitall_enqueue(count(), all_.data(), MPI_STATUSES_IGNORE, q.stream());
  }

 private:
  int count() const {
    return static_cast<int>(all_.size());
  }
  std::vector<MPI_Request> all_;
};

}  // namespace apps
