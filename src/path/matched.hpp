// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a persistent send and its receive on one node. mpi/matching.hpp matches them
// once; then streams start them again and again without the host (kernel/matched.hpp has the
// protocol). One kernel starts a list of sends, and another one waits for a list of receives
// (matched_launch.hpp). The wait for a send needs no work. The start of a receive needs none
// either, unless the message is large: then the start opens the program's buffer, and the sender
// may write straight into it. The kernels run in the program's own stream, captured or not.
//
// The ends of one process on one device that are matched together share a room (matched_room.hpp).
// It holds the words of each end and the inbox of each receive.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kernel/kernel.hpp"
#include "path/matched_room.hpp"

namespace telpher::path {

/// An end as the other one sees it.
struct matched_side {
  exported_memory room;
  std::uint64_t words;  // offsets in the room; of partitioned requests the record
  std::uint64_t inbox;  // of a receive; of partitioned requests the marks
  std::uint64_t stride;
  std::uint64_t bytes;     // of a message; of a receive, what it has room for
  exported_memory buffer;  // of a receive that opens it: the program's
  // Of partitioned requests:
  std::uint64_t partitions;
  std::uint64_t marks;  // of a receive: for so many partitions of the sender
};

/// What ends of messages and of partitioned requests (matched_partitions.hpp) share.
class matched_end {
 public:
  virtual ~matched_end() = default;
  matched_end(const matched_end&) = delete;
  matched_end& operator=(const matched_end&) = delete;

  virtual matched_side side() const noexcept;
  /// Opens the other end's memory. `process` is the other end's rank in the job, `own` this one's.
  /// An error if the two cannot be a pair.
  virtual status connect(int process, int own, const matched_side& other) noexcept = 0;

  const memory::place& where() const noexcept { return room_->where(); }
  /// To be called before a launch after which a stream may wait for the peer. If the launch fails,
  /// hold_no_more() takes the call back.
  void hold(bool captured) noexcept;
  void hold_no_more(bool captured) noexcept;
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool sends() const noexcept { return sends_; }

 protected:
  matched_end(std::shared_ptr<matched_room> room, bool sends, std::byte* buffer,
              std::uint64_t bytes) noexcept;
  /// Opens the other end's room and returns its first byte as kernels of this device reach it.
  result<std::byte*> open_room(int process, int own, const matched_side& other) noexcept;
  /// Of a receive: exports the program's buffer, so that the other end's kernels may write it.
  void export_buffer() noexcept;
  /// Of a send: opens the receiver's buffer, which must hold `bytes_` bytes.
  result<std::byte*> open_buffer(int process, int own, const matched_side& other) noexcept;

  std::shared_ptr<matched_room> room_;
  bool sends_;
  std::byte* buffer_;    // the program's
  std::uint64_t bytes_;  // what the receive has room for; once connected, of a message
  std::size_t waiter_;
  memory::mapping peer_room_, peer_buffer_;
  exported_memory exported_buffer_{};
};

class matched_message final : public matched_end {
 public:
  /// Bytes of a room for an end whose messages have at most `bytes`.
  static std::size_t room_for(bool sends, std::uint64_t bytes) noexcept;

  /// `buffer`: one run of device memory of the room's place.
  matched_message(std::shared_ptr<matched_room> room, bool sends, std::byte* buffer,
                  std::uint64_t bytes) noexcept;

  matched_side side() const noexcept override;
  status connect(int process, int own, const matched_side& other) noexcept override;
  kernel::matched_pieces::piece piece() const noexcept;
  /// Of a receive: its start opens the program's buffer to the sender, which may write there.
  bool opens() const noexcept { return !sends_ && exported_buffer_.exportable; }
  kernel::matched_pieces::piece opening() const noexcept;

 private:
  kernel::matched_words* peer_words() const noexcept {
    return reinterpret_cast<kernel::matched_words*>(peer_words_);
  }

  std::uint64_t words_, inbox_ = 0, stride_ = 0;
  std::byte* peer_words_ = nullptr;
  std::byte* peer_inbox_ = nullptr;
  std::byte* peer_target_ = nullptr;
};

/// Starts sends, and receives that open their buffers, or waits for receives, in a stream of the
/// program's on their device. `captured`: a graph takes the stream's work.
status start_messages(std::span<matched_message* const> sends,
                      std::span<matched_message* const> opens, device::stream s,
                      bool captured) noexcept;
status await_receives(std::span<matched_message* const> ends, device::stream s,
                      bool captured) noexcept;

}  // namespace telpher::path
