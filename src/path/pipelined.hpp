// SPDX-License-Identifier: BSD-3-Clause
// pipelined: off the node. The receiver answers the ticket with a small reply on the private
// communicator; then the blocks of the plan travel there with the ticket's reply tag, from pinned
// blocks to pinned blocks, while copies at both ends overlap with them.
//
// A sender that must not wait (its receiver is silent, or it is about to block in the host MPI)
// copies the payload to host memory: the send is complete then, and the blocks can be handed to the
// host MPI all at once (send_all), which moves them without our help.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "host_mpi/host_mpi.hpp"
#include "path/block_plan.hpp"
#include "path/staged.hpp"

namespace telpher::path {

/// What the receiver says to the sender.
struct reply {
  std::uint32_t magic;
  std::uint32_t action;  // 1: send the blocks
};

struct wire {
  MPI_Comm control;
  int peer;       // world rank
  int reply_tag;  // even; the blocks travel with the next tag, so that a peer's blocks and a peer's
                  // replies never meet
  int block_tag() const noexcept { return reply_tag + 1; }
};

/// The sender's half; posts the receive of the reply when made, before the ticket goes out.
class pipelined_send final : public transfer {
 public:
  pipelined_send(const wire& w, const region& from) noexcept;
  ~pipelined_send() override;
  /// ok once every block has left.
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::pipelined; }

  bool asked() const noexcept { return asked_; }
  /// Copies the payload to host memory and waits for the copy; the send buffer is free afterwards.
  /// would_block if blocks are on their way already: the receiver is there, keep polling.
  status buffer() noexcept;
  bool buffered() const noexcept { return static_cast<bool>(whole_); }
  /// Hands every block that has not left to the host MPI now, asked or not. Needs buffer() first.
  status send_all() noexcept;

 private:
  struct flight {
    memory::buffer block;
    MPI_Request request;
  };
  status hear() noexcept;
  status send(const std::byte* from, std::size_t bytes, memory::buffer block) noexcept;
  status fill() noexcept;
  status launch_filled() noexcept;
  status reap() noexcept;

  wire wire_;
  region from_;
  block_plan plan_;
  reply reply_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  bool asked_ = false;
  block_copies copies_;
  std::deque<memory::buffer> filling_;  // blocks whose copy from the device runs, in order
  std::deque<flight> flying_;
  std::size_t sent_ = 0;
  memory::buffer whole_;
};

/// The receiver's half; sends the reply when made.
class pipelined_receive final : public transfer {
 public:
  pipelined_receive(const wire& w, const region& to) noexcept;
  ~pipelined_receive() override;
  status poll() noexcept override;
  kind moved_by() const noexcept override { return kind::pipelined; }

 private:
  struct flight {
    memory::buffer block;  // empty: straight into the destination
    MPI_Request request;
    std::size_t index;
  };
  status post() noexcept;
  status land() noexcept;

  wire wire_;
  region to_;
  block_plan plan_;
  reply reply_{};
  MPI_Request reply_request_ = MPI_REQUEST_NULL;
  std::deque<flight> posted_;
  std::deque<memory::buffer> landing_;  // blocks whose copy to the device runs, in order
  block_copies copies_;
  std::size_t next_ = 0;
  std::size_t landed_ = 0;
};

}  // namespace telpher::path
