// SPDX-License-Identifier: BSD-3-Clause
// What is kept beside a communicator whose neighbourhood collectives and MPI_Alltoallw may run as
// messages (by_messages.hpp): a private communicator of the same ranks for the messages, and the
// rule by which all members take the same way without asking in each call.
//
// The members agree only where all of them surely are, in blocking collective calls:
// - When a topology is made, or duplicated by MPI_Comm_dup: whether the program has started a
//   device's runtime at any member.
// - In the blocking calls number 1, 2, 4, 8 and so on of the communicator: whether any member names
//   device memory in this very call, or had to stage a collective since it was last asked. A yes is
//   final.
// The answer is in force until the next one; non-blocking calls follow it too. Each persistent
// request agrees for itself when it is made. A member whose memory differs from the way in force
// takes it nevertheless: messages carry host memory as well, and the host MPI's call gets an image
// of device memory. So a program that has no device memory keeps the host MPI's calls. It pays one
// small allreduce for a topology and log2(n) for n blocking calls.
//
// The private communicator is made at the first yes. It never comes from MPI_Comm_idup, which would
// call the program's attribute functions. The state is an attribute of the program's communicator
// and goes with it. Messages and persistent requests that still use it keep it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// A rank that messages go to or come from. `index` counts the neighbours as the call's arrays do.
/// Two ranks that are neighbours twice tell their messages apart by the tag (grids), or by the
/// order (graphs).
struct neighbour {
  int rank;
  int tag;
  std::size_t index;
};

struct neighbourhood {
  std::vector<neighbour> to, from;
};

class message_channel {
 public:
  using pointer = std::shared_ptr<message_channel>;

  /// The state of a communicator; null where collectives never run as messages: an
  /// intercommunicator, ranks outside the job, the setting.
  static pointer of(MPI_Comm comm) noexcept;
  /// The same, but null where it has not been made.
  static pointer known(MPI_Comm comm) noexcept;

  explicit message_channel(MPI_Comm comm);
  message_channel(const message_channel&) = delete;
  message_channel& operator=(const message_channel&) = delete;
  ~message_channel();

  /// The communicator has a topology.
  bool has_topology() const noexcept { return has_topology_; }
  /// Of the topology.
  const neighbourhood& neighbours() const noexcept { return neighbours_; }
  /// All ranks, beginning at the own one so that not all send to the same rank at once.
  const neighbourhood& everybody();

  /// Collective and blocking: whether any member says yes. The private communicator is made then;
  /// if it cannot be, the answer is no.
  bool agree(MPI_Comm comm, bool mine) noexcept;
  /// The same; the answer is in force until the next one.
  void expect(MPI_Comm comm, bool mine) noexcept { in_force_ = agree(comm, mine); }
  void settle(MPI_Comm comm, bool mine) noexcept;
  bool in_force() const noexcept { return in_force_; }
  /// Whether this blocking call has to settle it. Counts the call.
  bool settles_now() noexcept;

  MPI_Comm wire() const noexcept { return wire_; }
  /// What a persistent request adds to its tags: such requests may be started in any order. -1 when
  /// the tags are used up. All members get the same.
  int take_tags() noexcept;

 private:
  bool open(MPI_Comm comm) noexcept;

  MPI_Comm wire_ = MPI_COMM_NULL;
  bool in_force_ = false;
  bool final_ = false;
  bool has_topology_ = false;
  int tags_ = 1;  // that a round uses
  int persistent_ = 0;
  std::uint64_t blocking_calls_ = 0;
  std::uint64_t staged_before_ = 0;  // collectives of this rank
  int rank_ = 0;
  int size_ = 0;
  neighbourhood neighbours_;
  neighbourhood everybody_;
};

namespace by_messages {

/// With MPI_Init, and before the host MPI's end.
void start() noexcept;
void stop() noexcept;
/// After a blocking call that made or duplicated `made`, on all its ranks; others have null.
void topology_made(MPI_Comm made) noexcept;

}  // namespace by_messages

}  // namespace telpher::mpi
