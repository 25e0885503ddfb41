// SPDX-License-Identifier: BSD-3-Clause
// The slot: a cell in shared memory in which a sender and a receiver of one node agree how a
// message's bytes move. It lies in the sender's segment; the ticket names it by index and epoch.
//
// Protocol. `word` holds epoch << 8 | state. Who may write which state, and what it publishes:
//
//   free       sender    the cell is unused; only the sender leaves this state
//   preparing  sender    store(release), before the ticket is sent: the sender's device is still at
//                        work on the payload. The receiver waits; only the sender leaves this
//                        state, for ready or refused
//   coming     sender    store(release), before the ticket is sent: when the sender's stream gets
//                        there, its kernel puts the bytes into cell `where` of the receiver's
//                        inbox, with the mark `ring_blocks` (path/inbox.hpp). The receiver's stream
//                        may take them from there by its own kernel, and then stores done. Else the
//                        receiver waits
//   arrived    sender    compare-and-swap from coming: they are in the cell; the send is complete
//   ready      sender    store(release), before the ticket is sent or from preparing: `payload`
//                        says where the bytes lie; the receiver may claim. If `is_strided`, they
//                        are not packed: `payload` names their first block and `shape` the others.
//                        The sender packs them when the receiver asks for its part, and to stage
//                        them
//   claimed    receiver  compare-and-swap from ready: the receiver decides how the bytes move. It
//                        tries at once to open the memory, and only then knows whether it needs the
//                        sender
//   getting    receiver  store(release) from claimed: the memory is open, the receiver moves the
//                        bytes and asks for nothing
//   staging    sender    compare-and-swap from ready: the sender copies the bytes to shared
//                        memory
//   staged     sender    store(release): the bytes lie at `where`; the send is complete
//   pipe_asked receiver  store(release) from claimed: asks the sender to feed blocks
//   piping     sender    store(release): the ring at `where` is ready; `produced`/`consumed` count
//                        blocks
//   put_asked  receiver  store(release) from claimed: asks the sender to write to `target`
//   put_done   sender    store(release): the bytes are in the target; the send is complete
//   refused    sender    store(release): what was asked cannot be done; the receiver asks otherwise
//                        (from put_asked: it stores claimed again) or gives up with an error (from
//                        preparing, coming, pipe_asked, piping, staging)
//   done       receiver  store(release): the receiver needs nothing more, because the bytes have
//                        arrived or because it has failed; the sender frees the cell
//
// Either end may fail at any time, and the other end must learn of it. A sender stores refused in
// place of staged, put_done or the last `produced`; the receiver answers done. A receiver stores
// done as soon as it may write the word: it claims a slot that is ready, waits for the end of
// staging, and lets the blocks of a ring pass (`consumed` grows, nothing is copied).
//
// One compare-and-swap on `ready` decides between claimed and staging. After it exactly one side
// at a time writes the word, as listed. So every other change is a plain release store, which the
// other side reads with acquire. The epoch grows by one with each use of a cell, so a claim with
// the epoch of an old or forged ticket fails. `produced` is written by the sender, `consumed` by
// the receiver.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/shared_memory.hpp"
#include "base/status.hpp"
#include "datatype/strided.hpp"
#include "device/types.hpp"
#include "path/block_plan.hpp"
#include "path/endings.hpp"

namespace telpher::path {

enum class slot_state : std::uint8_t {
  free = 0,
  preparing,
  coming,
  arrived,
  ready,
  claimed,
  getting,
  staging,
  staged,
  pipe_asked,
  piping,
  put_asked,
  put_done,
  refused,
  done,
};

const char* to_string(slot_state s) noexcept;

/// A piece of exported device memory, as described to another process.
struct exported_memory {
  std::uint64_t address;  // of the first byte, in the exporting process
  std::uint64_t base;     // of its allocation
  std::uint64_t allocation_bytes;
  std::uint64_t generation;
  std::int16_t device;
  device::vendor owner;
  std::uint8_t exportable;  // 0: `handle` is not valid
  device::device_uuid uuid;
  device::ipc_handle handle;

  /// Whether `bytes` bytes from `address` on lie in the allocation.
  bool holds(std::uint64_t bytes) const noexcept {
    return bytes <= allocation_bytes && address >= base &&
           address - base <= allocation_bytes - bytes;
  }
};

struct alignas(64) slot {
  std::atomic<std::uint32_t> word;
  union {
    std::uint32_t ring_blocks;
    std::uint32_t is_strided;  // until blocks are asked for: 1: `shape` holds
  };
  std::uint64_t where;  // staged bytes, or a ring: offset in the sender's segment, or in `apart`
  std::uint64_t ring_block_bytes;
  exported_memory payload;  // written by the sender before the first state; what each message needs
                            // of it is in the line of `word`
  alignas(64) std::atomic<std::uint64_t> produced;
  alignas(64) std::atomic<std::uint64_t> consumed;
  std::atomic<std::uint32_t> probed;  // the last epoch whose ticket a probe has taken: written by
                                      // the receiver, read by synchronous sends
  exported_memory target;             // put: written by the receiver
  block_plan::numbers plan;  // of the ring's blocks; written by the sender, as `where` and `apart`
  shared_memory_name apart;  // separate memory, if `where` is an offset before the arena's
  datatype::strided shape;   // of the payload; written by the sender before the first state

  static constexpr std::uint32_t pack(std::uint32_t epoch, slot_state s) noexcept {
    return epoch << 8 | static_cast<std::uint32_t>(s);
  }
  slot_state state() const noexcept {
    return static_cast<slot_state>(word.load(std::memory_order_acquire) & 0xff);
  }
  /// The state, if the cell is still used for `epoch`; else free.
  slot_state state_in(std::uint32_t epoch) const noexcept {
    const std::uint32_t w = word.load(std::memory_order_acquire);
    return w >> 8 == epoch ? static_cast<slot_state>(w & 0xff) : slot_state::free;
  }
  void set(std::uint32_t epoch, slot_state s) noexcept {
    word.store(pack(epoch, s), std::memory_order_release);
  }
  /// The compare-and-swap on `ready` that decides between claimed and staging.
  bool take(std::uint32_t epoch, slot_state s) noexcept {
    return change(epoch, slot_state::ready, s);
  }
  /// Of the sender: the receiver may store done meanwhile.
  bool end_coming(std::uint32_t epoch, slot_state s) noexcept {
    return change(epoch, slot_state::coming, s);
  }

 private:
  bool change(std::uint32_t epoch, slot_state from, slot_state to) noexcept {
    std::uint32_t expected = pack(epoch, from);
    return word.compare_exchange_strong(expected, pack(epoch, to), std::memory_order_acq_rel);
  }
};

constexpr std::uint32_t epoch_mask = 0xffffff;

constexpr std::size_t most_devices = 32;

/// The bit of a tag in segment_header::plain_tags and ticket_tags.
constexpr std::uint64_t tag_class(int tag) noexcept {
  return std::uint64_t{1} << (static_cast<unsigned>(tag) % 64);
}

/// First page of a rank's segment. The first word is the cookie of shared_memory.
struct segment_header {
  std::uint64_t cookie;
  std::uint32_t slots;
  std::uint32_t reserved;
  std::uint64_t slots_at;
  std::uint64_t arena_at;
  std::uint64_t arena_bytes;
  /// The doorbell. The number of tickets that ranks of this node have sent to this rank is the sum
  /// of all words in `doorbells` and of `common_doorbell`. Each sender reserves a word at start
  /// (fetch_add on `doorbells_taken`) and is its only writer: a store, after the ticket's message
  /// was started. A sender that got no word does a fetch_add on the common one.
  alignas(64) std::atomic<std::uint32_t> doorbells_taken;
  std::atomic<std::uint64_t> common_doorbell;
  /// How often receivers changed one of this rank's slots to a state that the owner must act on
  /// (pipe_asked, put_asked, done). Receivers do a fetch_add after they have stored the state (or
  /// the states of several slots). The owner reads it; when it has grown by n, the owner looks for
  /// n such slots.
  alignas(64) std::atomic<std::uint64_t> answers;
  /// Not zero while the owner is inside a host MPI call in which it cannot redeem tickets. Written
  /// by the owner; read by senders that decide whether to buffer.
  alignas(64) std::atomic<std::uint32_t> blocked;
  /// Some receives are posted so that a ticket for them would do harm. These words keep tickets
  /// away from them. Tags are divided into 64 classes, one for each bit (tag_class).
  /// - `plain_tags`: receives of these tags may be the host MPI's alone, and nobody looks at what
  ///   they bring (ticket/plain_receives.hpp). Written by the owner.
  /// - `shared_places`: the number of receives that write where others write too, and do without
  ///   landings (ticket/written_ranges.hpp). Written by the owner.
  /// - `ticket_tags`: some rank has wanted to send a ticket with such a tag. Written by senders
  ///   (fetch_or). A bit that is set stays set.
  /// The owner sets the bit in `plain_tags` (or counts up `shared_places`) and then reads
  /// `ticket_tags`. It posts the receive only if the bit of its tag is 0 there (for
  /// `shared_places`: if all bits are 0). A sender sets the bit in `ticket_tags` before its first
  /// ticket of the class, and then reads the owner's two words. Unless both are 0 it sends bytes
  /// in place of the ticket. All these accesses are sequentially consistent, so at least one side
  /// sees the other's word.
  std::atomic<std::uint64_t> plain_tags;
  std::atomic<std::uint64_t> ticket_tags;
  std::atomic<std::uint32_t> shared_places;
  /// How often the owner has reached a point where the ranks of the node wait for each other.
  /// Written by the owner (fetch_add, release), read by the others (progress_engine::meet_node).
  alignas(64) std::atomic<std::uint32_t> met;
  /// The devices that the owner uses (path/neighbours.hpp).
  alignas(64) std::atomic<std::uint32_t> device_count;
  device::device_uuid devices[most_devices];
  std::array<std::uint64_t, 32> cpus;  // bit n: the owner may run on processor n
  alignas(64) endings ended;           // allocations of the owner
};

/// The inbox for messages of one sender's streams (path/inbox.hpp). Written by the owner, which
/// stores `there` last (release), and read by the sender.
struct alignas(64) inbox_card {
  std::atomic<std::uint32_t> there;  // 1: it is valid
  std::uint64_t cell_bytes;
  exported_memory memory;
};

constexpr std::size_t segment_doorbells_at = 4096;
constexpr std::size_t most_doorbells = 512;
constexpr std::size_t segment_inboxes_at =
    segment_doorbells_at + most_doorbells * sizeof(std::atomic<std::uint64_t>);
constexpr std::size_t most_inboxes = 64;  // one for each of the first so many ranks of the node
constexpr std::size_t segment_slots_at = segment_inboxes_at + most_inboxes * sizeof(inbox_card);
static_assert(offsetof(slot, payload.uuid) <= 64);
static_assert(sizeof(segment_header) <= segment_doorbells_at && segment_slots_at % 4096 == 0);

}  // namespace telpher::path
