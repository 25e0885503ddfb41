// SPDX-License-Identifier: BSD-3-Clause
// The doorbell between nodes: an empty message on the private communicator by which a sender says
// that a ticket of it waits unanswered. On a node a counter in shared memory does this. A sender
// rings once a message, and only when its receiver has not answered for TELPHER_EAGER_PATIENCE: a
// receiver that looks where the message lies pays nothing.
//
// Listening is the Iprobe by which a waiting rank makes the host MPI move its own messages, so it
// costs nothing of its own either.
#pragma once

#include <vector>

#include "host_mpi/job.hpp"

namespace telpher::ticket {

class bell {
 public:
  void start(const host_mpi::job& job) noexcept;
  /// Collective: takes what was rung and not heard, so that nothing is left on the communicator.
  void stop() noexcept;

  /// Rings at a rank of another node.
  void ring(int world_rank) noexcept;
  /// Makes the host MPI progress, and hears who rang.
  void listen() noexcept;
  /// How many bells have been heard.
  int heard() const noexcept { return heard_; }

 private:
  bool take() noexcept;

  const host_mpi::job* job_ = nullptr;
  int tag_ = 0;
  std::vector<int> rung_;  // how often we rang at each rank
  int heard_ = 0;
};

}  // namespace telpher::ticket
