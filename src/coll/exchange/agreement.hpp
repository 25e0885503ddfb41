// SPDX-License-Identifier: BSD-3-Clause
// How the ranks of a communicator in one node agree, call by call, whether a collective runs on the
// devices. Each sees only its own buffers. Nothing here waits: who polls decides how.
//
// Every rank has a line in shared memory, written by it alone, read by all. Rank 0's line also
// holds the cells, which all ranks write. Calls, blocking or not, are numbered from 1. The numbers
// are the same at all ranks, because MPI has all ranks initiate collectives in the same order.
//
// Blocking call n. A rank writes its proposal, `host` or `device`, into slot n % slots of its line.
// - A rank that proposes host is done. It goes to the host MPI without looking at the others'
//   proposals, and may be any number of calls ahead of them.
// - A rank that proposes device reads the proposals of all ranks. If all are device, it takes part
//   in as many votes as the call needs; all ranks hold the same votes, since all know the same.
//   In either case it then sets `read` to n and runs the call: on the devices, or staged as the
//   host ranks do.
//
// Overwriting. A slot that holds a device proposal for call m is written again only when every rank
// that proposed device in m has `read` >= m. So a reader of call n that finds a later number than n
// in a slot knows that the proposal for n was host: had it been device, it would still be there. A
// rank that proposed device remembers who else did. A slot that holds a host proposal may be
// written again at any time.
//
// The wait for `read` is short. The writer read all proposals and votes of m before it left m, so
// they are all there, and a rank that proposed device in m finishes reading them without anybody's
// help. No rank waits for a rank that waits elsewhere.
//
// Non-blocking calls. Here a rank that proposed device goes on with something else, and may have to
// block in the host MPI before all have come: it must be able to withdraw its proposal, and no peer
// may then believe that all proposed device. So one cell for all ranks decides:
//   cell[n % slots] of rank 0's line: n << 8 | closed << 7 | how many proposed device. Written by
//   all, by compare-and-swap. The call is the devices' when the count becomes the number of ranks,
//   for good. A rank withdraws by setting `closed`, which fails if all have proposed device.
//   declined, in each line: a call number d. The line's owner has nothing more to say on
//   non-blocking calls up to d: it has withdrawn or will not propose device, or the call is
//   decided. A rank that goes to the host MPI from the start stores only this.
// propose_revocably() fills the slot and then counts (release). A rank that finds the count full
// (acquire) may read all descriptions. A reader looks at all `declined` before its last look at the
// cell: a rank that declined n did so after n was decided or closed, or it is never counted in n.
// A call whose count is not full is the host's when some rank has declined it, when its cell is
// closed, or when the cell has a later number. The cell of a call that is the devices' is written
// again only by ranks that know that all have read it (may_propose, as for slots). Votes and the
// end of the call are those of a blocking call.
//
// What follows for the devices: when all ranks proposed device in n, all have ended every call
// before n, because a non-blocking call is proposed only when those before it have ended. So
// nothing of an earlier call is still being read or written: scratch space, flags and inboxes of
// the communicator are free at the start of each call (kernel/exchange.hpp relies on it).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "coll/vendor/library.hpp"
#include "path/slot.hpp"

namespace telpher::coll::exchange {

constexpr int most_ranks = 64;

/// What peers must know of a rank's call. Copied out of the slot before `read` is set.
struct description {
  std::uint64_t signature;  // of what must be equal at all ranks: operation, root, type, count
  std::uint64_t grain;      // divides every count and offset of this rank, in bytes
  std::uint64_t number;     // call_number::least() of this rank
  std::uint64_t workspace_base, workspace_generation;  // its workspace_id; 0: not made yet
  path::exported_memory input;
  path::exported_memory output;
  std::uint8_t has_input;
  std::uint8_t has_output;
  std::uint8_t in_place;
  std::uint8_t library_failed;              // a call of the vendor's library, before this one
  std::uint8_t lost_mappings;               // the rank has unmapped known allocations
  std::int8_t device;                       // which of the rank's devices
  std::uint64_t block_bytes[most_ranks];    // of the blocks that only this rank knows
  std::uint64_t block_offsets[most_ranks];  // of these blocks in its input
  std::uint64_t room[most_ranks];           // bytes it expects from each rank, in the v forms
  std::uint64_t places;                     // hash of where it puts them, which peers need not know
};

enum class proposal : std::uint8_t { host = 1, device = 2 };

struct alignas(64) agreement_slot {
  /// The most votes of one call. Workspaces: made, mapped (2); where both kinds are tried, 4.
  /// Choice: made (1). Vendor's library: opened, joined, and, if refused, another choice (3).
  /// Buffers: mapped, and, if refused, another choice (2); only with workspaces in device memory.
  /// So 2 + 1 + 3 + 2, or 4 + 1 + 3. A replay needs fewer: after the choice only its rooms made and
  /// opened (2).
  static constexpr int votes = 8;
  std::atomic<std::uint64_t> proposed;                  // call << 8 | proposal
  std::array<std::atomic<std::uint64_t>, votes> voted;  // call << 8 | 1 for yes
  description what;                                     // with proposal::device
};

struct alignas(64) agreement_line {
  static constexpr std::uint64_t slots = 4;
  /// The last call whose proposals and votes the owner has read for good.
  alignas(64) std::atomic<std::uint64_t> read;
  /// The last call in which the owner's device failed: nobody need wait for it.
  alignas(64) std::atomic<std::uint64_t> failed;
  /// The last non-blocking call that the owner has declined.
  alignas(64) std::atomic<std::uint64_t> declined;
  path::exported_memory workspace;  // of the owner's call; written before a vote on it
  bool may_wait;                    // with it: kernels of the owner's device may wait
  bool runs_together;               // with it: see device_properties
  bool delivers_lines;              // to all ranks' devices; before the vote on mapped workspaces
  std::uint64_t library;         // version of the vendor's library, written before a vote; 0: none
  vendor::unique_id library_id;  // rank 0's: what all join with
  agreement_slot slot[slots];
  alignas(64) std::atomic<std::uint64_t> cell[slots];  // of all ranks, in rank 0's line
};

class agreement {
 public:
  enum class answer { pending, yes, no };

  agreement() = default;
  /// `lines` of all ranks, in rank order; they must be zero before any rank's first call.
  agreement(agreement_line* const* lines, int ranks, int me) noexcept;

  agreement_line& line(int rank) const noexcept { return *lines_[static_cast<std::size_t>(rank)]; }
  agreement_line& own() const noexcept { return line(me_); }

  /// For a rank that does not know the others' lines yet: it can only decline.
  agreement(agreement_line& own, int ranks, int me) noexcept;
  void know(agreement_line* const* lines) noexcept;

  /// Takes the number of the next call.
  std::uint64_t next_call() noexcept { return ++taken_; }
  /// Takes it and proposes the host MPI for the call. False: the slot may not be written yet, and
  /// nothing was done.
  bool leave_next_to_host() noexcept {
    begin(taken_ + 1);
    if (!may_propose()) return false;
    propose(proposal::host);
    ++taken_;
    return true;
  }

  /// Begins a call. Then poll may_propose() until the slot may be written, and propose.
  void begin(std::uint64_t call) noexcept;
  bool may_propose() noexcept {
    return unread_[call_ % agreement_line::slots].readers == 0 || all_have_read();
  }
  /// The description to fill before proposing device.
  description& own_description() noexcept { return own_slot().what; }

  // --- blocking calls ---

  void propose(proposal p) noexcept;
  /// After proposing device: yes if all did, no if some rank proposed host (and all have answered).
  answer proposals() noexcept;

  // --- non-blocking calls ---

  /// Proposes device. decision() stands for proposals() then.
  void propose_revocably() noexcept;
  answer decision() noexcept;
  /// Takes the proposal back. False if all have proposed device: the call must be run.
  bool withdraw() noexcept;
  /// Leaves calls up to this one to the host MPI; of those proposed only what was withdrawn.
  void decline(std::uint64_t call) noexcept;

  // --- both ---

  /// Of a rank that proposed device in this call.
  const description& description_of(int rank) const noexcept { return slot_of(rank).what; }

  /// The next vote of this call, and its result: yes if all voted yes.
  void vote(bool yes) noexcept;
  answer result() noexcept;
  /// Before the own vote: a rank has voted no.
  bool refused() const noexcept;

  /// Ends reading: slots of this call may be written again, descriptions are gone.
  void finish() noexcept;

  /// A rank whose proposal or vote is still missing, or -1.
  int missing() const noexcept;
  bool failed_in_call(int rank) const noexcept {
    return line(rank).failed.load(std::memory_order_acquire) == call_;
  }
  void fail_call() noexcept { own().failed.store(call_, std::memory_order_release); }

 private:
  /// Whether those who proposed device in the call of our slot have read it.
  bool all_have_read() noexcept;
  agreement_slot& slot_of(int rank) const noexcept {
    return line(rank).slot[call_ % agreement_line::slots];
  }
  agreement_slot& own_slot() const noexcept { return slot_of(me_); }
  std::atomic<std::uint64_t>& cell() const noexcept {
    return line(0).cell[call_ % agreement_line::slots];
  }

  std::array<agreement_line*, most_ranks> lines_{};
  int ranks_ = 0;
  int me_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t call_ = 0;
  int votes_ = 0;
  int seen_ = 0;               // ranks whose proposal or vote of the running round was read
  bool all_ = true;            // and all of them said yes
  std::uint64_t devices_ = 0;  // ranks that proposed device in this call
  struct unread {              // who has not read a slot of ours
    std::uint64_t call = 0;
    std::uint64_t readers = 0;
  };
  std::array<unread, agreement_line::slots> unread_{};
};

}  // namespace telpher::coll::exchange
