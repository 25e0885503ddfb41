// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator that spans nodes keep for the schedules that they run
// (runner.hpp): a communicator for their messages, flags by which the ranks of a node order
// themselves, and scratch space that they have mapped from each other, in host memory. With the
// first call that runs on the devices it is equipped for that: scratch space in device memory, and
// pinned slots that messages pass through. All ranks make and equip it together; one schedule at a
// time uses it.
//
// Flags. Rank q's line lies in its segment; line.from[p] is written by rank p of the node only, and
// counts p's signals to q since the room was made, twice, plus one if p has failed in the call. A
// signal is stored (release) after all that stands before it in p's schedule is done and visible;
// a wait loads with acquire. Every signal is waited for (the verifier proves it), so counts never
// have to begin anew.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/shared_memory.hpp"
#include "coll/exchange/stepped.hpp"
#include "coll/exchange/workspace.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::between {

/// Whether a call whose longest vector has so many bytes runs in host memory, at all ranks: it is a
/// block or less, and each step on a device would take longer than its bytes.
bool fits_the_host(std::uint64_t bytes) noexcept;

/// A block on its way through pinned memory; the event stands behind its copy.
struct slot {
  memory::buffer data;
  memory::pooled_event copied;
  bool taken = false;
};

/// The slots of one direction.
class slot_ring {
 public:
  static constexpr std::size_t usual = 8;
  /// Null where all are taken.
  slot* take() noexcept;
  /// One more than there are. Null: no memory.
  slot* grow(const memory::place& where) noexcept;
  status fill(const memory::place& where) noexcept;
  void abandon() noexcept;

 private:
  std::deque<slot> slots_;  // a deque: addresses stay
};

class room {
 public:
  /// What all ranks say together: true if all say true.
  using vote = std::function<bool(bool)>;

  /// Collective over `comm`. `node`: its ranks that share this rank's node. Null at all ranks
  /// alike.
  static std::unique_ptr<room> make(MPI_Comm comm, const std::vector<int>& node,
                                    const vote& all) noexcept;
  /// Collective over `comm`, the same one; `device` is this rank's. True at all ranks alike. Tried
  /// once.
  bool equip(MPI_Comm comm, const memory::place& device, const vote& all) noexcept;
  bool equipped() const noexcept { return where.on_device(); }
  /// Collective.
  ~room();
  room(const room&) = delete;
  room& operator=(const room&) = delete;

  /// Bytes of scratch space of every rank.
  static std::uint64_t scratch_bytes() noexcept;
  static std::uint64_t block_bytes() noexcept;

  /// The scratch space of a rank of the node, in device memory or the host's; null for others.
  std::byte* scratch_of(int rank, bool on_host) const noexcept;
  /// A block of host memory for what comes to a rank that has failed.
  std::byte* unwanted() const noexcept;
  void signal(int peer, bool failed) noexcept;
  /// would_block, or whether the peer had failed when it signalled: peer_lost.
  status wait(int peer) noexcept;

  /// Messages of a call may still come and go: nothing that they touch is given back, and the room
  /// serves no other call.
  void abandon() noexcept;
  bool abandoned() const noexcept { return abandoned_; }

  MPI_Comm wire = MPI_COMM_NULL;
  memory::place where;  // this rank's device, once equipped
  slot_ring out, in;

 private:
  explicit room(const std::vector<int>& node);
  bool share_flags(MPI_Comm comm, MPI_Comm local) noexcept;
  bool share_host_scratch(MPI_Comm local) noexcept;
  bool share_scratch(MPI_Comm comm, MPI_Comm local, const memory::place& device,
                     exchange::workspace_kind kind, const vote& all) noexcept;
  bool map_scratch(MPI_Comm comm, MPI_Comm local, const memory::place& device,
                   exchange::workspace_kind kind);
  std::size_t index_of(int rank) const noexcept;

  std::vector<int> node_;  // ranks of the node, ascending
  std::size_t own_ = 0;    // this one's place there
  bool has_flags_ = false;
  bool abandoned_ = false;
  bool tried_ = false;  // to equip it
  std::uint64_t flags_at_ = 0;
  std::vector<exchange::step_flags*> lines_;
  std::vector<std::uint64_t> signalled_, awaited_;
  std::vector<shared_memory> host_spaces_;  // of each rank of the node
  exchange::workspace own_space_;
  std::vector<exchange::mapped_workspace> spaces_;
};

}  // namespace telpher::coll::between
