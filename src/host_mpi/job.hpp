// SPDX-License-Identifier: BSD-3-Clause
// The job as all its ranks know it: agreed once in MPI_Init. Who has a device, which ranks share a
// node (they can open each other's memory: tried, not inferred from names), the nonce that marks
// our messages, and a private communicator.
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
  MPI_Comm control = MPI_COMM_NULL;  // a duplicate of MPI_COMM_WORLD
  int rank = 0;
  int size = 1;
  int tag_limit = 32767;     // largest tag that may be used on `control`
  bool any_device = false;   // some rank has a device: wrappers are active
  bool all_devices = false;  // every rank has one: receives take small tickets
  std::array<std::uint8_t, 16> nonce{};
  shared_memory own;                 // this rank's segment
  std::vector<shared_memory> peers;  // by world rank; empty for ranks of other nodes and this one
  std::vector<int> node;             // world ranks on this node, this one included, ascending

  /// The segment of a rank of this node, or null.
  std::byte* segment(int world_rank) const noexcept {
    if (world_rank == rank) return own.data();
    return peers[static_cast<std::size_t>(world_rank)].data();
  }
};

/// Collective over MPI_COMM_WORLD. `segment_bytes` is the size of each rank's shared segment;
/// `enabled` false on any rank leaves the whole job inactive (any_device false). If no rank has a
/// device nothing else is made.
status join(bool has_device, bool enabled, std::size_t segment_bytes, job& out) noexcept;

/// Collective; frees the communicator and the segments.
void leave(job& j) noexcept;

/// The world rank of a rank of `comm` (of its remote group, if it is an intercommunicator), or -1
/// if that process is not in MPI_COMM_WORLD. Cached for each communicator.
int world_rank(const job& j, MPI_Comm comm, int rank) noexcept;

/// All of them, by rank of `comm`; they outlive it.
std::shared_ptr<const std::vector<int>> world_ranks(MPI_Comm comm) noexcept;

/// A number that tells communicators of different groups apart, the same on all their ranks. It
/// tells neither a duplicate from its original nor the two groups of an intercommunicator. For
/// traces.
std::uint64_t group_key(const job& j, MPI_Comm comm) noexcept;

/// Must be called before a communicator is freed.
void forget(MPI_Comm comm) noexcept;

}  // namespace telpher::host_mpi
