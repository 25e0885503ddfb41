// SPDX-License-Identifier: BSD-3-Clause
// pipelined: between nodes. The receiver answers the ticket with a small reply on the private
// communicator. Then the blocks of the plan travel there, from pinned blocks to pinned blocks, with
// the tag that belongs to the ticket's reply tag. Copies at both ends overlap with them. Where the
// program's buffer has gaps, kernels pack blocks into the pinned ones, and unpack them out of them.
//
// The first block does not wait for the reply: the sender copies it to the host while the ticket is
// in flight, and sends it then, so a network with a long way costs a short message one way less. A
// block whose receiver is late waits in its host MPI, as any message does. Few messages may have
// such blocks at a time; those of others wait.
//
// A sender that must not wait (its receiver is silent, or the sender is about to block in the host
// MPI) pushes: it copies the rest to host memory and sends every block as soon as it is there,
// whether the receiver has asked or not. The host MPI then moves the blocks without our help.
//
// An end that fails (a copy, memory) still completes the exchange of blocks, so that the other end
// learns of it and the host MPI keeps no pending operation. (Other movers do not report failures.)
// A sender sends the remaining blocks empty, unasked. A receiver receives the remaining blocks and
// drops them. A block that is shorter than the plan says tells the receiver that its sender failed.
//
// If nothing moves for TELPHER_TRANSFER_TIMEOUT after the receiver has answered, poll returns
// peer_lost. After that, and after an error of the host MPI, the host MPI may still use blocks
// (quiet()).
#pragma once

#include <deque>

#include "base/stall_clock.hpp"
#include "host_mpi/host_mpi.hpp"
#include "path/block_end.hpp"
#include "path/block_plan.hpp"
#include "path/direct.hpp"
#include "path/rdma.hpp"
#include "path/staged.hpp"

namespace telpher::path {

/// The receiver's message to the sender (CTS).
struct clear_to_send {
  std::uint32_t magic;
  std::uint32_t writable;  // 1: `target` may be written by one-sided transfers
  net::remote_memory target;
};

struct wire {
  MPI_Comm control;
  int peer;       // world rank
  int reply_tag;  // even; blocks use the next tag, so that blocks and replies of a peer are never
                  // confused
  int block_tag() const noexcept { return reply_tag + 1; }
};

/// The sender's plan before its receiver has answered.
struct intent {
  kind by = kind::pipelined;
  bool measures = false;  // whether the direct path could serve as well

  /// By the table of paths (path/table.hpp).
  static intent of(int peer, std::size_t bytes) noexcept;
  /// Whether such messages go in blocks whatever `of` would say, which may measure.
  static bool only_blocks(int peer, std::size_t bytes) noexcept;
  /// Whether a choice of the protocol precedes the bytes; the ticket says so.
  bool announces() const noexcept { return by != kind::pipelined; }
  bool hands_over() const noexcept { return by == kind::direct; }
};

/// The sender's half. Posts the receive of the reply on construction, before the ticket is sent.
class pipelined_send final : public transfer {
 public:
  /// If a choice of the protocol precedes the bytes, `from` has no gaps.
  pipelined_send(const wire& w, block_end&& from, const intent& meant) noexcept;
  ~pipelined_send() override;
  /// ok, or the error of this end, when every block was sent and the receiver has answered.
  status poll() noexcept override;
  bool quiet() const noexcept override { return asked_ && !mover_ && gone(); }
  kind moved_by() const noexcept override { return mover_ ? mover_->moved_by() : kind::pipelined; }

  bool asked() const noexcept { return asked_; }
  /// Whether the ticket said that the sender's choice comes first.
  bool announced() const noexcept { return meant_.announces(); }
  /// From the next poll on nothing waits for the receiver. On error (no memory) nothing has
  /// changed.
  status push() noexcept;
  bool pushes() const noexcept { return pushes_; }
  /// The host MPI has all blocks, or the mover needs no more polls: the transfer does not need us.
  bool all_sent() const noexcept { return mover_ ? !mover_->needs_us() : sent_ == plan_.count(); }
  /// Blocks that will be sent are on their way to host memory.
  bool copying() const noexcept { return pushes_ ? copied_ < plan_.count() : !filling_.empty(); }
  /// The host MPI has all blocks, so the send buffer may be reused; or there is nothing to send any
  /// more (outcome()).
  bool handed_over() const noexcept { return !mover_ && all_sent(); }
  /// It is done with them: it would have completed a send of host memory.
  bool delivered() const noexcept { return handed_over() && flying_.empty(); }
  status outcome() const noexcept { return outcome_; }
  /// The payload cannot be sent. The remaining blocks are sent empty, which tells the receiver.
  void fail(status why) noexcept;
  /// Messages that have left although the receiver never asked for them.
  int unasked_messages() const noexcept {
    if (asked_) return 0;
    return static_cast<int>(sent_) + (meant_.announces() && decided_ ? 1 : 0);
  }

  /// Bytes that all pushing senders of this process hold in host memory.
  static std::size_t held_bytes() noexcept { return held_bytes_; }

 private:
  struct flight {
    memory::buffer block;  // empty: the bytes lie in `rest_`, or there are none
    const std::byte* data;
    MPI_Request request;
  };
  status read_answer() noexcept;
  status decide() noexcept;
  status poll_mover() noexcept;
  std::size_t room() const noexcept;
  status fill() noexcept;
  bool may_leave() const noexcept { return asked_ || pushes_ || sent_ == 0; }
  status launch() noexcept;
  status feed() noexcept;
  status reap() noexcept;
  bool gone() const noexcept {
    return sent_ == plan_.count() && flying_.empty() && choice_request_ == MPI_REQUEST_NULL;
  }
  void learn() const noexcept;

  wire wire_;
  block_end from_;
  block_plan plan_;
  clear_to_send answer_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  bool asked_ = false;
  bool pushes_ = false;
  intent meant_;
  std::uint64_t since_ns_ = now_ns();
  bool decided_;  // the blocks may be sent, or `mover_` moves the bytes
  protocol_choice choice_{};
  MPI_Request choice_request_ = MPI_REQUEST_NULL;
  std::unique_ptr<mover> mover_;
  std::size_t moved_ = 0;
  block_copies copies_;
  std::deque<flight> filling_;  // blocks being copied from the device, in order
  std::deque<flight> flying_;
  std::size_t copied_ = 0;
  std::size_t sent_ = 0;
  memory::buffer rest_;  // the blocks that were not started when push() was called
  std::size_t rest_at_ = 0;
  status outcome_ = status::ok;
  stall_clock clock_;

  static inline std::size_t held_bytes_ = 0;    // protected by the progress lock, as all of path/
  static inline std::size_t early_blocks_ = 0;  // started before their receiver has answered
};

/// The receiver's half. Sends the reply on construction.
class pipelined_receive final : public transfer {
 public:
  /// `announced`: the sender's choice comes first. Then `to` has no gaps.
  pipelined_receive(const wire& w, block_end&& to, bool announced) noexcept;
  ~pipelined_receive() override;
  /// ok, or the error of either end, when every block has arrived.
  status poll() noexcept override;
  bool quiet() const noexcept override {
    return !mover_ && posted_.empty() && choice_request_ == MPI_REQUEST_NULL &&
           reply_request_ == MPI_REQUEST_NULL;
  }
  kind moved_by() const noexcept override { return mover_ ? mover_->moved_by() : kind::pipelined; }

 private:
  struct flight {
    memory::buffer block;  // empty: received directly into the destination
    MPI_Request request;
    std::size_t index;
  };
  status read_choice() noexcept;
  status advance_blocks() noexcept;
  status poll_mover() noexcept;
  status post() noexcept;
  status land() noexcept;
  void fail(status why) noexcept;

  wire wire_;
  block_end to_;
  block_plan plan_;
  clear_to_send answer_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  bool chosen_;
  protocol_choice choice_{};
  MPI_Request choice_request_ = MPI_REQUEST_NULL;
  reachable target_;
  std::unique_ptr<mover> mover_;
  memory::buffer nowhere_;  // used if a mover needs memory and there is no destination
  std::size_t moved_ = 0;
  std::deque<flight> posted_;
  std::deque<memory::buffer> landing_;  // blocks being copied to the device, in order
  block_copies copies_;
  std::size_t next_ = 0;
  std::size_t landed_ = 0;
  status outcome_ = status::ok;
  stall_clock clock_;
};

}  // namespace telpher::path
