// SPDX-License-Identifier: BSD-3-Clause
// pipelined: off the node. The receiver answers the ticket with a small reply on the private
// communicator; then the blocks of the plan travel there with the ticket's reply tag, from pinned
// blocks to pinned blocks, while copies at both ends overlap with them. The sender copies its first
// block to the host while the ticket and the reply are on their way.
//
// A sender that must not wait (its receiver is silent, or it is about to block in the host MPI)
// hurries: all that is left is copied to host memory and every block leaves as soon as it is there,
// asked or not. The host MPI then moves them without our help.
//
// An end that fails (a copy, memory) goes through with the blocks, so that the other end hears of
// it and nothing stays with the host MPI; other movers do not tell. A sender sends the blocks that
// are left empty, unasked, and a receiver lets what is left arrive nowhere. A block that is shorter
// than the plan says tells a receiver that its sender has failed.
//
// Where nothing moves for TELPHER_TRANSFER_TIMEOUT once the receiver has answered, poll answers
// peer_lost. That and an error of the host MPI leave blocks that it may still use (quiet()).
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "host_mpi/host_mpi.hpp"
#include "path/block_plan.hpp"
#include "path/direct.hpp"
#include "path/rdma.hpp"
#include "path/stall_clock.hpp"
#include "path/staged.hpp"

namespace telpher::path {

/// What the receiver says to the sender.
struct reply {
  std::uint32_t magic;
  std::uint32_t writable;  // 1: `target` may be written by one-sided transfers
  net::remote_memory target;
};

struct wire {
  MPI_Comm control;
  int peer;       // world rank
  int reply_tag;  // even; the blocks travel with the next tag, so that a peer's blocks and a peer's
                  // replies never meet
  int block_tag() const noexcept { return reply_tag + 1; }
};

/// What a sender means to do before its receiver has answered.
struct intent {
  bool rdma = false;
  std::optional<measured_choice::way> tried;  // a choice between blocks and path/direct.hpp

  static intent of(int peer, std::size_t bytes) noexcept;
  /// Whether a grant comes in front of the bytes; the ticket says so.
  bool announces() const noexcept { return rdma || hands_over(); }
  bool hands_over() const noexcept { return tried == measured_choice::second; }
};

/// The sender's half; posts the receive of the reply when made, before the ticket goes out.
class pipelined_send final : public transfer {
 public:
  pipelined_send(const wire& w, const region& from, const intent& meant) noexcept;
  ~pipelined_send() override;
  /// ok, or what has failed here, once every block has left and the receiver has answered.
  status poll() noexcept override;
  bool quiet() const noexcept override { return asked_ && !mover_ && gone(); }
  kind moved_by() const noexcept override { return mover_ ? mover_->moved_by() : kind::pipelined; }

  bool asked() const noexcept { return asked_; }
  /// The ticket said that a grant comes first.
  bool announced() const noexcept { return meant_.announces(); }
  /// From the next poll on nothing waits for the receiver. An error: no memory, everything is as
  /// before.
  status hurry() noexcept;
  bool hurries() const noexcept { return hurries_; }
  /// The host MPI has every block: it needs nothing more of us.
  bool all_sent() const noexcept { return mover_ ? !mover_->needs_us() : sent_ == plan_.count(); }
  /// Every byte is in host memory, or will not be (outcome): the send buffer is free.
  bool copied() const noexcept { return !mover_ && copied_ == plan_.count(); }
  status outcome() const noexcept { return outcome_; }
  /// Messages that have left although the receiver never asked for them.
  int unasked_messages() const noexcept {
    if (asked_) return 0;
    return static_cast<int>(sent_) + (meant_.announces() && decided_ ? 1 : 0);
  }

  /// Bytes that all hurrying senders of this process hold in host memory.
  static std::size_t held_bytes() noexcept { return held_bytes_; }

 private:
  struct flight {
    memory::buffer block;  // empty: the bytes lie in `rest_`, or there are none
    const std::byte* data;
    MPI_Request request;
  };
  status hear() noexcept;
  status decide() noexcept;
  status poll_mover() noexcept;
  std::size_t room() const noexcept;
  status fill() noexcept;
  status launch() noexcept;
  status feed() noexcept;
  void fail(status why) noexcept;
  status reap() noexcept;
  bool gone() const noexcept {
    return sent_ == plan_.count() && flying_.empty() && grant_request_ == MPI_REQUEST_NULL;
  }
  void learn() const noexcept;

  wire wire_;
  region from_;
  block_plan plan_;
  reply reply_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  bool asked_ = false;
  bool hurries_ = false;
  intent meant_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  bool decided_;  // the blocks may leave, or `mover_` moves the bytes
  grant grant_{};
  MPI_Request grant_request_ = MPI_REQUEST_NULL;
  std::unique_ptr<mover> mover_;
  std::size_t moved_ = 0;
  block_copies copies_;
  std::deque<flight> filling_;  // blocks whose copy from the device runs, in order
  std::deque<flight> flying_;
  std::size_t copied_ = 0;
  std::size_t sent_ = 0;
  memory::buffer rest_;  // what hurry() found not yet started
  std::size_t rest_at_ = 0;
  status outcome_ = status::ok;
  stall_clock clock_;

  static inline std::size_t held_bytes_ = 0;    // under the engine's lock, as all of path/
  static inline std::size_t early_blocks_ = 0;  // started before their receiver answered
};

/// The receiver's half; sends the reply when made. Without an address in `to` the bytes arrive
/// nowhere.
class pipelined_receive final : public transfer {
 public:
  pipelined_receive(const wire& w, const region& to, bool announced) noexcept;
  ~pipelined_receive() override;
  /// ok, or what has failed at either end, once every block has arrived.
  status poll() noexcept override;
  bool quiet() const noexcept override {
    return !mover_ && posted_.empty() && grant_request_ == MPI_REQUEST_NULL &&
           reply_request_ == MPI_REQUEST_NULL;
  }
  kind moved_by() const noexcept override { return mover_ ? mover_->moved_by() : kind::pipelined; }

 private:
  struct flight {
    memory::buffer block;  // empty: straight into the destination
    MPI_Request request;
    std::size_t index;
  };
  status hear_grant() noexcept;
  status advance_blocks() noexcept;
  status poll_mover() noexcept;
  status post() noexcept;
  status land() noexcept;
  void fail(status why) noexcept;

  wire wire_;
  region to_;
  block_plan plan_;
  reply reply_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  bool granted_;
  grant grant_{};
  MPI_Request grant_request_ = MPI_REQUEST_NULL;
  reachable target_;
  std::unique_ptr<mover> mover_;
  memory::buffer nowhere_;  // where a mover must be given memory
  std::size_t moved_ = 0;
  std::deque<flight> posted_;
  std::deque<memory::buffer> landing_;  // blocks whose copy to the device runs, in order
  block_copies copies_;
  std::size_t next_ = 0;
  std::size_t landed_ = 0;
  status outcome_ = status::ok;
  stall_clock clock_;
};

}  // namespace telpher::path
