// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator that spans nodes keep for the schedules that they run
// (runner.hpp): a communicator for their messages, flags by which the ranks of a node order
// themselves, and scratch space that they have mapped from each other, in host memory. With the
// first call that runs on the devices it is equipped for that: scratch space in device memory, and
// pinned slots that messages pass through. One schedule at a time uses it.
//
// All ranks make and equip it together, in steps of which none waits: each rank makes its part and
// passes a card with the addresses to all, opens the parts of its node, and says whether it could.
// A blocking call waits for the end, a non-blocking one takes a step in each pass.
//
// Flags. Rank q's line lies in its host memory, before the scratch space. Rank p of the node alone
// writes line.from[p]. The word is 2 * s + f: s counts p's signals to q since the room was made, f
// is 1 if p has failed in the call. A signal is stored (release) after all that stands before it in
// p's schedule is done and visible; a wait loads with acquire. Every signal is waited for (the
// verifier proves it), so counts are never reset. Calls that are one kernel at each rank signal on
// the devices (kernel_runner.hpp). Of these the line has three words that its owner alone writes:
// the numbers of the last call that the owner has begun, in which it has failed, and whose kernel
// is over.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "base/shared_memory.hpp"
#include "coll/exchange/stepped.hpp"
#include "coll/exchange/workspace.hpp"
#include "host_mpi/host_mpi.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::between {

/// Whether a blocking call whose longest vector has so many bytes is one kernel on each device
/// (kernel_runner.hpp), if all ranks can have it so.
bool fits_a_kernel(std::uint64_t bytes) noexcept;
/// Whether another call runs in host memory, at all ranks: it is a block or less, and each step on
/// a device would take longer than its bytes.
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
  /// Collective over `comm`: no more than a communicator for it. `node`: the ranks that share this
  /// rank's node. Null at all ranks alike.
  static std::unique_ptr<room> begin(MPI_Comm comm, const std::vector<int>& node) noexcept;
  /// would_block; then ok or not_supported, at all ranks alike. After that it may be tried again.
  status make() noexcept;
  bool made() const noexcept { return made_; }
  /// The same with this rank's device; tried once.
  status equip(const memory::place& device) noexcept;
  bool equipped() const noexcept { return where.on_device(); }
  /// Both for calls that wait.
  bool make_now() noexcept;
  void equip_now(const memory::place& device) noexcept;
  /// Collective.
  ~room();
  room(const room&) = delete;
  room& operator=(const room&) = delete;

  /// Ranks of the node, ascending, and this one's place there.
  const std::vector<int>& node() const noexcept { return node_; }
  std::size_t own_place() const noexcept { return own_; }

  /// The scratch space of a rank of the node, in device memory or the host's; null for others.
  std::byte* scratch_of(int rank, bool on_host) const noexcept;
  /// A block of host memory for what comes to a rank that has failed.
  std::byte* unwanted() const noexcept;
  void signal(int peer, bool failed) noexcept;
  /// would_block, or whether the peer had failed when it signalled: peer_lost.
  status wait(int peer) noexcept;

  // For a call that is one kernel at each rank of the node.
  /// The call's number. All ranks of the node make the same calls.
  std::uint64_t next_kernel_call() noexcept;
  /// Where the kernels of the node's ranks signal to the one in that place.
  std::uint64_t* kernel_flags_of(std::size_t place) const noexcept;
  /// Where they signal to the host: pinned memory.
  std::uint64_t* host_flags() const noexcept {
    return static_cast<std::uint64_t*>(host_flags_.data());
  }
  /// This rank has failed in that call; whether another rank of the node has.
  void tell_failure(std::uint64_t call) noexcept;
  bool has_failed(std::uint64_t call) const noexcept;
  /// This rank's kernel of that call is over, or will not be launched; whether those of all other
  /// ranks of the node are.
  void tell_kernel_is_over(std::uint64_t call) noexcept;
  bool kernels_are_over(std::uint64_t call) const noexcept;
  /// Whether another rank of the node has begun it.
  bool is_begun(std::uint64_t call) const noexcept;

  /// Closes the other ranks' memory. The room ends without waiting for them, so they must have met
  /// in some other way before that. It serves no other call.
  void close_mappings() noexcept;
  /// Messages of a call may still come and go: nothing that they touch is given back, and the room
  /// serves no other call.
  void abandon() noexcept;
  bool abandoned() const noexcept { return abandoned_; }

  MPI_Comm wire = MPI_COMM_NULL;
  memory::place where;  // this rank's device, once equipped
  slot_ring out, in;

 private:
  /// What a rank tells the others of its part.
  struct card {
    shared_memory_name host_space;
    path::exported_memory space;
  };
  enum class step : std::uint8_t { own_part, cards, saying };

  room(const std::vector<int>& node, int ranks);
  /// One step of what makes a part, and opens the others': would_block, or what all say.
  template <class Own, class Open>
  status take_step(const Own& own, const Open& open) noexcept;
  bool ended() noexcept;
  bool own_part() noexcept;
  bool open_parts() noexcept;
  exchange::step_flags& flags_of(std::size_t i) const noexcept;
  struct kernel_calls;
  kernel_calls& kernel_calls_of(std::size_t i) const noexcept;
  bool own_space(const memory::place& device) noexcept;
  bool open_spaces() noexcept;
  std::size_t index_of(int rank) const noexcept;

  std::vector<int> node_;  // ranks of the node, ascending
  std::size_t own_ = 0;    // this one's place there
  bool abandoned_ = false;
  bool made_ = false;
  bool tried_ = false;  // to equip it
  step now_ = step::own_part;
  bool good_ = false;  // this rank's part of it
  int said_ = 0, all_say_ = 0;
  MPI_Request request_ = MPI_REQUEST_NULL;
  card own_card_{};
  std::vector<card> cards_;  // of all ranks
  exchange::workspace_kind kind_ = exchange::workspace::first_kind();
  std::vector<std::uint64_t> signalled_, awaited_;
  shared_memory own_host_space_;            // until the others have opened it
  std::vector<shared_memory> host_spaces_;  // of each rank of the node
  memory::place device_;
  memory::buffer host_flags_;
  std::uint64_t kernel_calls_ = 0;
  exchange::workspace own_space_;
  std::vector<exchange::mapped_workspace> spaces_;
};

}  // namespace telpher::coll::between
