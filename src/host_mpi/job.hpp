// SPDX-License-Identifier: BSD-3-Clause
// The job: what all its ranks agree on once, in MPI_Init. It knows which ranks have a device, which
// ranks share a node (they can open each other's memory; this is tried, not inferred from names),
// the nonce that marks our messages, and a private communicator.
//
// If all ranks of MPI_COMM_WORLD are known to carry this library, they are the job. Otherwise the
// job is this process alone. All other processes, including those of another MPI_COMM_WORLD
// (spawned or connected), are outside. Nothing of ours is ever sent to them, and a communicator
// that has one of them as a member is used for the program's own calls only. If a rank of the job
// passes device memory on such a communicator, it is staged through host memory, which no other
// rank needs to know.
//
// A program without MPI_Init makes communicators before its processes know of each other. Until
// they join the job each waits for it alone: everybody is outside, this process included. What was
// made in that time stays outside for good, with all its duplicates: a rank that joins later than
// another must not judge it otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/shared_memory.hpp"
#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

struct job {
  MPI_Comm control = MPI_COMM_NULL;  // has the job's ranks and no others
  int rank = 0;                      // in `control`
  int size = 1;
  int world_rank = 0;  // in MPI_COMM_WORLD, for names in logs and traces
  int world_size = 1;
  int tag_limit = 32767;     // largest tag that we may use on `control`
  bool any_device = false;   // some rank has a device: the wrappers are active
  bool all_devices = false;  // every rank has one: receives accept small tickets
  bool waits = false;        // the job is not joined yet: every process is outside
  std::array<std::uint8_t, 16> nonce{};
  shared_memory own;                 // this rank's segment
  std::vector<shared_memory> peers;  // by rank; empty for this rank and for ranks of other nodes
  std::vector<int> node;             // ranks on this node, this one included, ascending
  MPI_Comm control_alone = MPI_COMM_NULL;  // of the time before: what lies on it is still used

  /// The segment of a rank of this node; null for ranks of other nodes.
  std::byte* segment(int of) const noexcept {
    if (of == rank) return own.data();
    return peers[static_cast<std::size_t>(of)].data();
  }
};

/// To be called before PMPI_Init, if Telpher is enabled.
void announce() noexcept;

/// Called after PMPI_Init. `world` is MPI_COMM_WORLD or, in a program without MPI_Init, one of the
/// program's communicators with all processes of mpi://WORLD; it is not kept. If not `enabled`, the
/// rank only learns its place in the world, and the others see it as a rank without the library.
/// `segment_bytes` returns the size of a rank's shared segment; it is called after the ranks have
/// agreed on their settings, unless `out` has a segment. If no rank has a device, nothing else is
/// made. Ends the whole program with an explanation if ranks without the library cannot be left
/// out.
status join(MPI_Comm world, bool has_device, bool enabled, std::size_t (*segment_bytes)(),
            job& out) noexcept;

/// Local, in a program with a session: this process works alone until it joins the job. Without a
/// device it only knows that it waits.
status wait_for_job(bool has_device, std::size_t (*segment_bytes)(), job& out) noexcept;

/// After a call that made `made`, or null: while this process waits, it is outside for good.
void note_made(const job& j, MPI_Comm made) noexcept;

/// Frees the communicators and the segments.
void leave(job& j) noexcept;

/// The job's rank of a rank of `comm` (of its remote group, for an intercommunicator), or -1 if
/// that process is outside the job. Cached for each communicator.
int world_rank(const job& j, MPI_Comm comm, int rank) noexcept;

/// Whether all ranks of `comm` (of both groups, for an intercommunicator) belong to the job. Only
/// then may we communicate on it. All its ranks get the same answer.
bool is_ours(const job& j, MPI_Comm comm) noexcept;

/// The job's ranks of all ranks of `comm`, in the order of `comm`. The list may outlive the
/// communicator.
std::shared_ptr<const std::vector<int>> world_ranks(const job& j, MPI_Comm comm) noexcept;

/// A number that identifies a communicator's group, the same on all its ranks. A duplicate has the
/// same number as its original, and both groups of an intercommunicator have the same. For traces.
std::uint64_t group_key(const job& j, MPI_Comm comm) noexcept;

/// Part of leave(): forgets what was known of communicators, which is not true of the next job.
void forget_members() noexcept;

}  // namespace telpher::host_mpi
