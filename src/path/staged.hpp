// SPDX-License-Identifier: BSD-3-Clause
// staged: device → shared host memory → device. For ranks of one node that cannot open each other's
// memory, and for messages that a sender buffers. Two forms:
// - ring: the receiver asked (pipe_asked) and the sender feeds blocks of the plan (piping), so that
//   both legs overlap. Block k lies in ring slot k % ring_blocks; `produced` and `consumed` count
//   blocks.
// - whole: the receiver had not claimed the message, and the sender copied all of it to its arena
//   (staging → staged).
// If the arena has no room, both forms use shared memory that is made for the message.
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
/// an error nothing is running, so the memory at both ends may be freed; nothing more may be
/// started. Kernels that pack or unpack a block may stand in place of copies.
class block_copies {
 public:
  explicit block_copies(const memory::place& mover, memory::stream_role role) noexcept
      : mover_(mover), role_(role) {}
  ~block_copies() {
    if (!running_.empty()) stop();
  }
  block_copies(const block_copies&) = delete;
  block_copies& operator=(const block_copies&) = delete;
  /// `uncut` is segment::uncut of the end that lies in a segment.
  status start(void* to, const void* from, std::size_t bytes,
               std::size_t uncut = static_cast<std::size_t>(-1)) noexcept;
  /// What `enqueue(stream)` has the device do. It may use `through`, which is kept until then.
  template <class Enqueue>
  status start_by(const Enqueue& enqueue, memory::buffer through = {}) noexcept {
    if (const status s = begin(enqueue, through); s != status::ok) {
      stop();  // also what was already started of this block
      return s;
    }
    ++started_;
    return status::ok;
  }
  /// How many blocks have finished since the beginning, in order.
  result<std::size_t> finished() noexcept;
  /// Waits for running copies; for use when something else has failed.
  void stop() noexcept;
  std::size_t started() const noexcept { return started_; }

 private:
  struct running {
    memory::pooled_event end;
    memory::buffer through;
  };
  template <class Enqueue>
  status begin(const Enqueue& enqueue, memory::buffer& through) noexcept {
    auto s = memory::stream(mover_, role_);
    TELPHER_TRY(s);
    auto e = memory::pooled_event::acquire(mover_);
    TELPHER_TRY(e);
    TELPHER_TRY(enqueue(*s));
    TELPHER_TRY(e->record(*s));
    running_.push_back({std::move(*e), std::move(through)});
    return status::ok;
  }

  memory::place mover_;
  memory::stream_role role_;
  std::deque<running> running_;
  std::size_t started_ = 0;
  std::size_t finished_ = 0;
};

/// The receiver's half, for any state after the ticket was matched except ready. It asks for the
/// ring if the state is claimed, and accepts the whole form if it is staging or staged. Leaves the
/// state done, also on error; what the sender still has to feed is then dropped.
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
  std::optional<block_plan> plan_;  // the sender's plan of a ring, as first read
  std::uint32_t ring_blocks_ = 0;
  std::uint64_t ring_block_bytes_ = 0;
  block_copies copies_;
  status outcome_ = status::ok;
};

/// The sender's half of the ring; made when the state is pipe_asked. ok when the last block is in
/// shared memory; the send buffer is then free. The ring must exist until the state is done.
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
  std::size_t block_bytes_ = 0;  // size of one slot of the ring
};

/// The sender's half of the whole form; made only after the state was changed from ready to
/// staging. ok when the bytes are in shared memory.
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

}  // namespace telpher::path
