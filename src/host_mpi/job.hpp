// SPDX-License-Identifier: BSD-3-Clause
// The job as all its ranks know it: agreed once in MPI_Init. Who has a device, which ranks share a
// node (they can open each other's memory: tried, not inferred from names), the nonce that marks
// our messages, and a private communicator.
//
// The ranks of the job are those of MPI_COMM_WORLD where all of them are known to carry this
// library, else this process alone. Others, those of another MPI_COMM_WORLD (spawned, connected)
// among them, are outside: nothing of ours is ever sent to them, and no communicator with one of
// them is used for anything but the program's own calls. A rank of the job that passes device
// memory there does it through host memory, which no other rank need know.
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
  MPI_Comm control = MPI_COMM_NULL;  // of its ranks and nobody else
  int rank = 0;                      // in it
  int size = 1;
  int world_rank = 0;  // in MPI_COMM_WORLD, for names in logs and traces
  int world_size = 1;
  int tag_limit = 32767;     // largest tag that may be used on `control`
  bool any_device = false;   // some rank has a device: wrappers are active
  bool all_devices = false;  // every rank has one: receives take small tickets
  std::array<std::uint8_t, 16> nonce{};
  shared_memory own;                 // this rank's segment
  std::vector<shared_memory> peers;  // by rank; empty for ranks of other nodes and this one
  std::vector<int> node;             // ranks on this node, this one included, ascending

  /// The segment of a rank of this node, or null.
  std::byte* segment(int of) const noexcept {
    if (of == rank) return own.data();
    return peers[static_cast<std::size_t>(of)].data();
  }
};

/// Before PMPI_Init, where Telpher is enabled.
void announce() noexcept;

/// After it. `world`: MPI_COMM_WORLD; of a program without MPI_Init, a communicator of the
/// program's with all processes of mpi://WORLD, which is not kept. Not `enabled`, a rank only
/// learns its place in the world: for others it is one without the library. `segment_bytes` says
/// the size of a rank's shared segment by the settings in force, which are agreed on first. If no
/// rank has a device nothing else is made. Ends the whole program with an explanation where ranks
/// without the library cannot be left out.
status join(MPI_Comm world, bool has_device, bool enabled, std::size_t (*segment_bytes)(),
            job& out) noexcept;

/// Frees the communicator and the segments.
void leave(job& j) noexcept;

/// The job's rank of a rank of `comm` (of its remote group, if it is an intercommunicator), or -1
/// if that process is outside. Cached for each communicator.
int world_rank(const job& j, MPI_Comm comm, int rank) noexcept;

/// Whether all ranks of `comm`, of both groups of an intercommunicator, are of the job: only then
/// may we communicate on it. All its ranks find the same.
bool is_ours(const job& j, MPI_Comm comm) noexcept;

/// The job's ranks of all, by rank of `comm`; they outlive it.
std::shared_ptr<const std::vector<int>> world_ranks(const job& j, MPI_Comm comm) noexcept;

/// A number that tells communicators of different groups apart, the same on all their ranks. It
/// tells neither a duplicate from its original nor the two groups of an intercommunicator. For
/// traces.
std::uint64_t group_key(const job& j, MPI_Comm comm) noexcept;

/// Must be called before a communicator is freed.
void forget(MPI_Comm comm) noexcept;

}  // namespace telpher::host_mpi
