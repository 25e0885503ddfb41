// SPDX-License-Identifier: BSD-3-Clause
// The doorbell between nodes: an empty message on the private communicator. A sender rings to say
// that one of its tickets is unanswered. On a node a counter in shared memory does this. A sender
// rings at most once for each message, and only when the receiver has not answered for
// TELPHER_EAGER_PATIENCE. So a receiver that finds the ticket by itself causes no bell.
//
// listen() calls Improbe. A waiting rank has to probe anyway, because that makes the host MPI move
// its own messages. So listening adds no call.
#pragma once

#include <vector>

#include "host_mpi/job.hpp"

namespace telpher::ticket {

class bell {
 public:
  void start(const host_mpi::job& job) noexcept;
  /// Collective: receives the bells that were rung and not heard, so that no message is left on the
  /// communicator.
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
