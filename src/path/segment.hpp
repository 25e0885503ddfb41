// SPDX-License-Identifier: BSD-3-Clause
// A rank's shared segment from both sides: the owner's (slots and staging memory are dealt out
// here) and a peer's (read and written as slot.hpp allows).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/shared_memory.hpp"
#include "memory/arena.hpp"
#include "memory/pinned_range.hpp"
#include "path/slot.hpp"

namespace telpher::path {

/// Bytes of a segment with the slots and the staging memory of the settings.
std::size_t segment_bytes() noexcept;

/// A segment as mapped here; its memory belongs to the caller.
class segment {
 public:
  segment() = default;
  explicit segment(std::byte* base) noexcept;

  explicit operator bool() const noexcept { return base_ != nullptr; }
  segment_header& header() const noexcept { return *reinterpret_cast<segment_header*>(base_); }
  slot& cell(std::uint32_t index) const noexcept {
    return reinterpret_cast<slot*>(base_ + slots_at_)[index];
  }
  /// Before the first ring: takes a doorbell of this segment for this process.
  void take_doorbell() noexcept;
  /// Says that a ticket for the owner has left.
  void ring() noexcept {
    if (doorbell_) [[likely]]
      doorbell_->store(++rings_, std::memory_order_release);
    else
      header().common_doorbell.fetch_add(1, std::memory_order_release);
  }
  /// Before a ticket for the owner is sent: whether it may be. False while the owner receives into
  /// one place several times at once, where a ticket could be written over.
  bool announce_ticket() noexcept {
    if (announced_) [[likely]]
      return true;
    header().tickets_come.store(1);
    return announced_ = header().shared_places.load() == 0;
  }
  /// A receiver's change of a slot in its sender's segment, and the ring of the sender's bell.
  void answer(slot& cell, std::uint32_t epoch, slot_state s) const noexcept {
    cell.set(epoch, s);
    header().answers.fetch_add(1, std::memory_order_release);
  }
  /// The bytes at an offset, made reachable for a device's copies where `owner` is not null; null
  /// if the range is not inside the staging memory (a damaged slot).
  std::byte* staging(std::uint64_t at, std::size_t bytes, device::backend* owner) noexcept;
  /// How far a copy that begins at this offset may go before it must be cut (memory::pinned_range).
  std::size_t uncut(std::uint64_t at) const noexcept {
    return memory::pinned_range::chunk_bytes - (at - arena_at_) % memory::pinned_range::chunk_bytes;
  }
  /// Whether an offset lies before all staging memory.
  bool before_arena(std::uint64_t at) const noexcept { return at < arena_at_; }
  void release_pins() noexcept { pins_.release(); }

 protected:
  std::atomic<std::uint64_t>* doorbells() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + segment_doorbells_at);
  }

 private:
  std::byte* base_ = nullptr;
  // As the header had them at the start: what is damaged later leads nowhere else.
  std::uint64_t slots_at_ = 0;
  std::uint64_t arena_at_ = 0;
  std::uint64_t arena_bytes_ = 0;
  memory::pinned_range pins_;
  std::atomic<std::uint64_t>* doorbell_ = nullptr;  // null: the common one
  std::uint64_t rings_ = 0;
  bool announced_ = false;
};

/// One use of a slot of ours.
struct slot_use {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::uint64_t described = 0;  // by which number the sender knows what `payload` says; 0: unknown
};

/// The owner's side: lays the segment out and deals out its parts.
class own_segment : public segment {
 public:
  own_segment() = default;
  explicit own_segment(std::byte* base) noexcept;

  /// A free slot, with its epoch advanced; nothing when all are in flight.
  std::optional<slot_use> take_slot() noexcept;
  void give_slot(const slot_use& last) noexcept;
  /// A receive is to be posted where another one may write. True if no ticket can come for it until
  /// leave_shared_place(); false, and nothing to leave, if one can.
  bool enter_shared_place() noexcept {
    header().shared_places.fetch_add(1);
    if (header().tickets_come.load() == 0) return true;
    leave_shared_place();
    return false;
  }
  void leave_shared_place() noexcept { header().shared_places.fetch_sub(1); }
  /// How many tickets ranks of this node have sent here.
  std::uint64_t rung() const noexcept;

  memory::arena& arena() noexcept { return arena_; }

 private:
  std::vector<slot_use> free_slots_;  // the last use of each: its line is where its receiver is
  memory::arena arena_;
};

/// Staging memory of a sender for one message, given back on destruction: a piece of its arena, or
/// shared memory apart from it.
class staging_piece {
 public:
  staging_piece() = default;
  /// Of the arena; null where that has no room.
  static std::unique_ptr<staging_piece> take(own_segment& own, std::size_t bytes,
                                             device::backend* owner) noexcept;
  /// The same, and where the arena has no room memory apart: a sender that others wait for must not
  /// wait for room that only they can make. Null where the system has no memory.
  static std::unique_ptr<staging_piece> take_any(own_segment& own, std::size_t bytes,
                                                 device::backend* owner) noexcept;
  ~staging_piece();
  staging_piece(const staging_piece&) = delete;
  staging_piece& operator=(const staging_piece&) = delete;

  std::byte* data() const noexcept { return data_; }
  /// How far a copy that begins at this offset may go before it must be cut.
  std::size_t uncut(std::size_t offset) const noexcept;
  /// Tells the receiver, before the state that tells it to look.
  void tell(slot& cell) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t at_ = 0;
  std::size_t bytes_ = 0;
  own_segment* own_ = nullptr;
  shared_memory apart_;
};

/// The same memory as its receiver finds it.
class staged_source {
 public:
  staged_source(segment& sender, const slot& cell) noexcept : sender_(sender), cell_(cell) {}
  /// The bytes at an offset, made reachable for the copies of `owner`'s devices if that is not
  /// null; null if there are none such (a damaged slot), or they cannot be opened.
  std::byte* find(std::uint64_t offset, std::size_t bytes, device::backend* owner) noexcept;
  std::size_t uncut(std::uint64_t offset) const noexcept;

 private:
  bool is_apart() const noexcept;

  segment& sender_;
  const slot& cell_;
  shared_memory apart_;
};

}  // namespace telpher::path
