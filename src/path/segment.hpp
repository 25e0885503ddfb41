// SPDX-License-Identifier: BSD-3-Clause
// A rank's shared segment, as its owner sees it (it allocates slots and staging memory here) and as
// a peer sees it (it reads and writes as slot.hpp allows).
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

/// Size of a segment with the slots and the staging memory of the settings.
std::size_t segment_bytes() noexcept;

/// A segment as mapped in this process; the memory belongs to the caller.
class segment {
 public:
  segment() = default;
  explicit segment(std::byte* base) noexcept;

  explicit operator bool() const noexcept { return base_ != nullptr; }
  segment_header& header() const noexcept { return *reinterpret_cast<segment_header*>(base_); }
  slot& cell(std::uint32_t index) const noexcept {
    return reinterpret_cast<slot*>(base_ + slots_at_)[index];
  }
  /// The owner's inbox for messages of the rank at this place among the node's; the place is below
  /// most_inboxes.
  inbox_card& inbox(std::size_t sender) const noexcept {
    return reinterpret_cast<inbox_card*>(base_ + segment_inboxes_at)[sender];
  }
  /// Reserves a doorbell of this segment for this process; to be called before the first ring.
  void take_doorbell() noexcept;
  bool has_doorbell() const noexcept { return doorbell_ != nullptr; }
  /// Tells the owner that a ticket for it was sent.
  void ring() noexcept {
    if (doorbell_) [[likely]]
      doorbell_->store(++rings_, std::memory_order_release);
    else
      header().common_doorbell.fetch_add(1, std::memory_order_release);
  }
  /// To be called before a ticket with this tag is sent to the owner; returns whether it may be
  /// sent. False while the owner may have receives posted that must not meet one (slot.hpp).
  bool announce_ticket(int tag) noexcept {
    const std::uint64_t mine = tag_class(tag);
    if (announced_ & mine) [[likely]]
      return true;
    segment_header& h = header();
    if (!(h.ticket_tags.load() & mine)) h.ticket_tags.fetch_or(mine);
    if (h.shared_places.load() != 0 || (h.plain_tags.load() & mine)) return false;
    announced_ |= mine;
    return true;
  }
  /// A receiver changes a slot in its sender's segment and rings the sender's bell.
  void answer(slot& cell, std::uint32_t epoch, slot_state s) const noexcept {
    cell.set(epoch, s);
    header().answers.fetch_add(1, std::memory_order_release);
  }
  /// The bytes at an offset, registered for device copies if `owner` is not null. Null if the range
  /// is not inside the staging memory (a damaged slot).
  std::byte* staging(std::uint64_t at, std::size_t bytes, device::backend* owner) noexcept;
  /// How many bytes a copy that begins at this offset may have before it must be cut
  /// (memory::pinned_range).
  std::size_t uncut(std::uint64_t at) const noexcept {
    return memory::pinned_range::chunk_bytes - (at - arena_at_) % memory::pinned_range::chunk_bytes;
  }
  /// Whether an offset lies before the staging memory.
  bool before_arena(std::uint64_t at) const noexcept { return at < arena_at_; }
  void release_pins() noexcept { pins_.release(); }

 protected:
  std::atomic<std::uint64_t>* doorbells() const noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + segment_doorbells_at);
  }

 private:
  std::byte* base_ = nullptr;
  // Copies of the header's values at the start: later damage to the header has no effect.
  std::uint64_t slots_at_ = 0;
  std::uint64_t arena_at_ = 0;
  std::uint64_t arena_bytes_ = 0;
  memory::pinned_range pins_;
  std::atomic<std::uint64_t>* doorbell_ = nullptr;  // null: the common one is used
  std::uint64_t rings_ = 0;
  std::uint64_t announced_ = 0;  // tag classes of which tickets may be sent
};

/// One use of one of our slots.
struct slot_use {
  std::uint32_t index = 0;
  std::uint32_t epoch = 0;
  std::uint64_t described = 0;  // number of the description in `payload`; 0: unknown
};

/// The owner's side: lays out the segment and allocates its parts.
class own_segment : public segment {
 public:
  own_segment() = default;
  explicit own_segment(std::byte* base) noexcept;

  /// To be called before the first slot is taken: only the first `count` are, as the other ranks
  /// expect. The segment may have been laid out before the ranks agreed on that.
  void keep_slots(std::uint32_t count) noexcept;
  /// A free slot with its epoch advanced; nothing if all are in use.
  std::optional<slot_use> take_slot() noexcept;
  void give_slot(const slot_use& last) noexcept;
  /// To be called before a receive is posted where another one may write. True: no ticket can come
  /// for it until leave_shared_place(). False: one can come, and leave_shared_place() must not be
  /// called.
  bool enter_shared_place() noexcept {
    header().shared_places.fetch_add(1);
    if (header().ticket_tags.load() == 0) return true;
    leave_shared_place();
    return false;
  }
  void leave_shared_place() noexcept { header().shared_places.fetch_sub(1); }
  /// To be called before a plain receive (slot.hpp) with this tag is posted. True: no ticket can
  /// come for it until end_plain().
  bool begin_plain(int tag) noexcept {
    const std::uint64_t mine = tag_class(tag);
    std::atomic<std::uint64_t>& come = header().ticket_tags;
    if (come.load(std::memory_order_relaxed) & mine) return false;
    if (plain_ & mine) [[likely]]
      return true;  // since before: a sender that wants to send a ticket sees it
    header().plain_tags.store(plain_ |= mine);
    if (!(come.load() & mine)) return true;
    end_plain(tag);
    return false;
  }
  /// Whether begin_plain would say yes without a change.
  bool has_begun_plain(int tag) const noexcept {
    const std::uint64_t may = plain_ & ~header().ticket_tags.load(std::memory_order_relaxed);
    return (may & tag_class(tag)) != 0;
  }
  /// No receive of the tag's class is plain any more.
  void end_plain(int tag) noexcept { end_plain_classes(tag_class(tag)); }
  void end_plain_classes(std::uint64_t classes) noexcept {
    if (!(plain_ & classes)) return;
    header().plain_tags.store(plain_ &= ~classes, std::memory_order_release);
  }
  /// The classes of which receives may be plain.
  std::uint64_t plain_tags() const noexcept { return plain_; }
  /// Of these, those of which a sender has wanted to send a ticket.
  std::uint64_t wanted_tags() const noexcept {
    return plain_ & header().ticket_tags.load(std::memory_order_relaxed);
  }
  /// The number of tickets that ranks of this node have sent to this rank.
  std::uint64_t rung() const noexcept;

  memory::arena& arena() noexcept { return arena_; }

 private:
  std::vector<slot_use> free_slots_;  // the last use of each; the most recently used slot's cache
                                      // line is at its receiver
  memory::arena arena_;
  std::uint64_t plain_ = 0;  // as in the header, where others could damage it
};

/// A sender's staging memory for one message, freed on destruction: a piece of its arena, or
/// separate shared memory.
class staging_piece {
 public:
  staging_piece() = default;
  /// From the arena; null if it has no room.
  static std::unique_ptr<staging_piece> take(own_segment& own, std::size_t bytes,
                                             device::backend* owner) noexcept;
  /// The same, or separate memory if the arena has no room. A sender that others wait for must not
  /// wait for room that only those others can free. Null if the system has no memory.
  static std::unique_ptr<staging_piece> take_any(own_segment& own, std::size_t bytes,
                                                 device::backend* owner) noexcept;
  ~staging_piece();
  staging_piece(const staging_piece&) = delete;
  staging_piece& operator=(const staging_piece&) = delete;

  std::byte* data() const noexcept { return data_; }
  /// How many bytes a copy that begins at this offset may have before it must be cut.
  std::size_t uncut(std::size_t offset) const noexcept;
  /// Writes the location into the slot; to be called before the state that makes the receiver read
  /// it.
  void tell(slot& cell) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t at_ = 0;
  std::size_t bytes_ = 0;
  own_segment* own_ = nullptr;
  shared_memory apart_;
};

/// The same memory, found by its receiver.
class staged_source {
 public:
  staged_source(segment& sender, const slot& cell) noexcept : sender_(sender), cell_(cell) {}
  /// The bytes at an offset, registered for copies of `owner`'s devices if `owner` is not null.
  /// Null if the slot is damaged or the memory cannot be opened.
  std::byte* find(std::uint64_t offset, std::size_t bytes, device::backend* owner) noexcept;
  std::size_t uncut(std::uint64_t offset) const noexcept;

 private:
  bool is_apart() const noexcept;

  segment& sender_;
  const slot& cell_;
  shared_memory apart_;
};

}  // namespace telpher::path
