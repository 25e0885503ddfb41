// SPDX-License-Identifier: BSD-3-Clause
// The two levels of a communicator that spans nodes: which ranks make up each node, a communicator
// of the own node, one of the ranks of equal index in all nodes (leaders), and the buffers that a
// block passes through between the levels. All ranks make it together and know the same of it; the
// buffers stay as long as the communicator, so that a call allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "codec/choice.hpp"
#include "coll/between/crossing.hpp"
#include "coll/exchange/communicator.hpp"
#include "coll/memory_ref.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/memory.hpp"

namespace telpher::coll::two_level {

/// Ranks of a communicator by node; nodes in the order of their first ranks, ranks ascending.
struct shape {
  std::vector<std::vector<int>> nodes;
  int node = 0;              // the own one
  int index = 0;             // of the own rank in its node
  int lanes = 0;             // ranks of the smallest node: so many leader groups
  bool even = false;         // all nodes have as many
  bool consecutive = false;  // and each has the ranks that follow those of the one before

  int locals() const noexcept { return static_cast<int>(own_node().size()); }
  const std::vector<int>& own_node() const noexcept { return at(node); }
  const std::vector<int>& at(int n) const noexcept { return nodes[static_cast<std::size_t>(n)]; }
  /// Node and index of a rank.
  struct seat {
    int node, index;
  };
  seat seat_of(int rank) const noexcept;
};

class team {
 public:
  /// How many blocks may be between the levels at once, and one more that is being filled.
  static constexpr int lag = 2;
  static constexpr int slots = lag + 1;

  /// Collective over `comm`; null, at all ranks, where a node has more ranks than may exchange.
  static std::unique_ptr<team> make(MPI_Comm comm) noexcept;
  explicit team(MPI_Comm of) noexcept : comm(of) {}
  team(const team&) = delete;
  team& operator=(const team&) = delete;
  ~team();

  /// Makes the buffers, for a rank whose memory is at `device`. False: the rank cannot.
  bool prepare(const memory::place& device) noexcept;
  /// Collective: makes the room. False, at all ranks alike: it cannot be made.
  bool prepare_room(const memory::place& device, const between::room::vote& all) noexcept;

  bool leads() const noexcept { return among.index < among.lanes; }
  /// Until no non-blocking call uses the room; or is with the host MPI either, if `all`.
  void settle(const char* what, bool all) noexcept;
  /// Of each slot, TELPHER_COLL_BLOCK bytes: device memory for what this rank has reduced, pinned
  /// memory for what it sends and for what it receives.
  memory_ref device_block(int slot) const noexcept { return part(device_, where_, slot); }
  memory_ref send_block(int slot) const noexcept { return part(send_, {}, slot); }
  memory_ref receive_block(int slot) const noexcept { return part(receive_, {}, slot); }
  /// Host images of a block of every rank of the node, for ranks that go through the host MPI.
  memory_ref image_in() const noexcept { return part(image_in_, {}, 0); }
  memory_ref image_out() const noexcept { return part(image_out_, {}, 0); }

  MPI_Comm comm;
  MPI_Comm local = MPI_COMM_NULL;
  MPI_Comm leaders = MPI_COMM_NULL;  // of this rank's index; its ranks are the nodes' numbers
  shape among;
  exchange::communicator* devices = nullptr;  // of `local`; null for one rank a node
  bool prepared = false;                      // at all ranks
  std::unique_ptr<between::room> room;        // for schedules, once prepared
  between::crossing_queue crossings;          // non-blocking calls in the room
  codec::choices compression;                 // as all ranks said at the last vote

 private:
  bool split() noexcept;
  static memory_ref part(const memory::buffer& b, const memory::place& p, int slot) noexcept;

  memory::place where_;
  memory::buffer device_, send_, receive_, image_in_, image_out_;
};

}  // namespace telpher::coll::two_level
