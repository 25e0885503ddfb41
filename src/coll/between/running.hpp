// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of a call between nodes while it is under way: what the two ways to run it, step
// by step (runner.hpp) and as one kernel (kernel_runner.hpp), have in common. The progress engine
// polls it; nothing here waits.
//
// Errors. A rank that fails goes on to the end of its part, because other ranks wait for its
// messages, and moves no more data: its messages say that it has failed, and who takes one has
// failed as well. So every rank that needed what is missing returns an error, and nobody waits for
// ever. A rank without memory for its bookkeeping has failed, too: what could not be noted is tried
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "coll/between/coding.hpp"
#include "coll/between/images.hpp"
#include "coll/between/messages.hpp"
#include "coll/reduction.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::between {

struct call {
  const char* name;
  std::shared_ptr<const between::plan> plan;
  std::uint64_t unit;  // bytes of an element
  reduction by;
  program_buffer input, output;
  coding how;           // of messages
  std::uint64_t bytes;  // of the longest vector
  bool on_host;         // runs in host memory
  bool begun = true;    // by all ranks: they have voted on it
  copies packed{};      // of buffers with gaps, in place of which they are
};

class running : public ticket::worker {
 public:
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  bool done() const noexcept { return done_; }
  /// When it is done.
  status outcome() const noexcept { return messages_.outcome(); }
  std::uint64_t bytes() const noexcept { return call_.bytes; }

  // --- for the progress engine ---
  bool advance() noexcept final;
  /// The thread that made the call polls it to its end, so other threads may block. That may be
  /// what the other ranks wait for, which need not have begun. The thread itself may block in an
  /// error handler.
  bool detach() noexcept final { return done_ || caller_ != std::this_thread::get_id(); }
  void report(log::level at) const noexcept final;

 protected:
  /// `s`: of device work that uses what comes; none: messages carry host memory. `mine`: what this
  /// rank has failed with before it began, if it has.
  running(room& r, call&& c, std::optional<device::stream> s, status mine) noexcept;
  ~running() override = default;

  bool failing() const noexcept { return failed(messages_.outcome()); }
  void keep(status s) noexcept {
    if (failed(s)) messages_.fail(s);
  }
  /// Pack what has gaps before the first step, and unpack it behind the last, once. would_block
  /// while that is under way; a rank that has failed does neither.
  status pack() noexcept { return move_copies(packed_, &exchange::packed_copies::begin_packing); }
  status unpack() noexcept {
    return move_copies(unpacked_, &exchange::packed_copies::begin_unpacking);
  }

  room& room_;
  call call_;
  messages messages_;
  std::size_t next_ = 0;      // the step or message that this rank comes to next
  std::size_t expected_ = 0;  // receives before this one are announced
  bool walked_ = false;       // it has come to the end
  bool begun_ = false;        // another rank has begun the call
  bool lost_ = false;         // a peer is lost: only work on the device goes on

 private:
  /// Goes on as far as possible; true if something moved. Throws only if host memory runs out.
  virtual bool move() = 0;
  /// What other ranks must hear of a failure, apart from messages.
  virtual void tell_failure() noexcept {}
  virtual bool at_end() const noexcept = 0;
  /// A peer is lost: leaves to the host MPI what it may still use.
  virtual void abandon() noexcept = 0;
  /// What it waits for, behind the call's name.
  virtual void describe(char* text, std::size_t size) const noexcept = 0;

  status move_copies(bool& begun, status (exchange::packed_copies::*begin)() noexcept) noexcept;
  void look_at_clock(bool moved) noexcept;

  bool packed_ = false, unpacked_ = false;  // what has begun
  bool done_ = false;
  const std::thread::id caller_ = std::this_thread::get_id();
  stall_clock still_;
};

}  // namespace telpher::coll::between
