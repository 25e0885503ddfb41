// SPDX-License-Identifier: BSD-3-Clause
// staged: device → shared host memory → device, for ranks of one node that cannot open each other's
// memory, and for messages that a sender buffers. Two forms:
// - a ring: the receiver asked (pipe_asked), the sender feeds blocks of the plan (piping); both
// legs
//   overlap. Block k lies in ring slot k % ring_blocks; `produced` and `consumed` count blocks.
// - whole: the sender was not heard and copied everything to its arena (staging → staged).
// Where the arena has no room both forms use shared memory made for the message.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "memory/streams.hpp"
#include "path/block_plan.hpp"
#include "path/segment.hpp"
#include "path/table.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

/// Copies of blocks on one stream, finished in order. Host-to-host copies are done at once. After
/// an error nothing runs any more, so that the memory at both ends may go back, and nothing more is
/// to be started.
class block_copies {
 public:
  explicit block_copies(const memory::place& mover, memory::lane lane) noexcept
      : mover_(mover), lane_(lane) {}
  ~block_copies() {
    if (!running_.empty()) stop();
  }
  block_copies(const block_copies&) = delete;
  block_copies& operator=(const block_copies&) = delete;
  /// `uncut` is segment::uncut of the end that lies in a segment.
  status start(void* to, const void* from, std::size_t bytes,
               std::size_t uncut = static_cast<std::size_t>(-1)) noexcept;
  /// How many blocks have finished since the beginning, in order.
  result<std::size_t> finished() noexcept;
  /// Waits for what runs; where something else has failed.
  void stop() noexcept;
  std::size_t started() const noexcept { return started_; }

 private:
  status enqueue(void* to, const void* from, std::size_t bytes, std::size_t uncut) noexcept;

  memory::place mover_;
  memory::lane lane_;
  std::deque<memory::pooled_event> running_;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
};

/// The receiver's half, for any state after the ticket was matched except offered: asks for the
/// ring if the state is claimed, takes whole if it is staging or staged. Leaves the state done,
/// also where it answers an error: what the sender still has to feed then passes unread.
class staged_receive final : public transfer {
 public:
  staged_receive(segment& sender, slot& cell, std::uint32_t epoch, const region& to) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::staged; }

 private:
  status take_whole() noexcept;
  status copy_whole() noexcept;
  status take_blocks() noexcept;
  result<std::size_t> copy_blocks(std::size_t produced) noexcept;

  segment& sender_;
  slot& cell_;
  std::uint32_t epoch_;
  region to_;
  staged_source source_;
  std::optional<block_plan> plan_;  // the sender's, of a ring, as it was first read
  std::uint32_t ring_blocks_ = 0;
  std::uint64_t ring_block_bytes_ = 0;
  block_copies copies_;
  status outcome_ = status::ok;
};

/// The sender's half of the ring; made when the state is pipe_asked. ok once the last block is in
/// shared memory: the send buffer is free then. The ring must live until the state is done.
class staged_feed final : public transfer {
 public:
  staged_feed(own_segment& own, slot& cell, std::uint32_t epoch, const region& from) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::staged; }
  std::unique_ptr<staging_piece> keep_memory() noexcept override { return std::move(ring_); }

 private:
  std::unique_ptr<staging_piece> room_for(std::size_t block) noexcept;
  status make_ring() noexcept;

  own_segment& own_;
  slot& cell_;
  std::uint32_t epoch_;
  region from_;
  block_plan plan_;
  block_copies copies_;
  std::unique_ptr<staging_piece> ring_;
  std::size_t depth_ = 0;
  std::size_t block_bytes_ = 0;  // of one place in the ring
};

/// The sender's half of the whole form; made only after the state was taken from offered to
/// staging. ok once the bytes are in shared memory.
class staged_whole final : public transfer {
 public:
  staged_whole(slot& cell, std::uint32_t epoch, const region& from,
               std::unique_ptr<staging_piece> room) noexcept;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::staged; }
  std::unique_ptr<staging_piece> keep_memory() noexcept override { return std::move(room_); }

 private:
  slot& cell_;
  std::uint32_t epoch_;
  std::unique_ptr<staging_piece> room_;
  block_copies copies_;
  status started_;
};

/// What the row of the table names.
status ask_for_ring(receive_end& e) noexcept;
std::unique_ptr<transfer> feed_ring(const send_end& e) noexcept;

}  // namespace telpher::path
