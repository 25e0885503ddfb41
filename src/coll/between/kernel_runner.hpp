// SPDX-License-Identifier: BSD-3-Clause
// Runs one rank's schedule between nodes as one kernel, to which the host is one more rank
// (kernel_plan.hpp, running.hpp). The kernel makes all copies and reductions and waits for the
// kernels of the node's ranks; the host moves the messages.
//
// Protocol. Flags and numbers are the exchange kernel's (kernel/exchange.hpp), in the room's
// memory; the epoch is the room's number of the call.
//
//   leaves   blocks copy their slices to the message's place in pinned memory and signal (release).
//            When the host has the signals of all blocks (acquire), the host MPI gets the message.
//   comes    the host MPI may write to the message's place from the beginning on. When it has, and
//            all blocks have signalled that they are done with what comes before, the host stores
//            (release) the number of messages that have come; blocks that await it copy their
//            slices from there.
//
// A place is of one message in one call, so nothing is overwritten.
//
// Errors. A rank that has failed stops its kernel, sends what it has still to send empty (which
// tells the receivers that they have failed), and writes the number of the call into its line of
// the room. Ranks of its node look there for as long as their kernels run, and have failed, too: it
// may never signal to them. All messages are taken nevertheless. A rank that has failed stays until
// the kernels of all ranks of its node are over: in the next call its signals would be taken for
// those that it owes in this one.
#pragma once

#include <cstdint>

#include "coll/between/running.hpp"
#include "coll/exchange/launch.hpp"

namespace telpher::coll::between {

class kernel_runner final : public running {
 public:
  /// `c` has a plan for a kernel. `mine`: what this rank has failed with before it began, if it
  /// has.
  kernel_runner(room& r, call&& c, status mine) noexcept;
  ~kernel_runner() override { retire(); }

 private:
  bool move() override;
  void tell_failure() noexcept override;
  bool at_end() const noexcept override;
  void abandon() noexcept override;
  void describe(char* text, std::size_t size) const noexcept override;

  const kernel_plan& plan() const noexcept { return *call_.plan->in_kernel; }
  status take_means() noexcept;
  status launch();
  int blocks() const noexcept;
  std::byte* place_of(const kernel_plan::message& m) const noexcept;
  void expect();
  status walk();
  status take(const kernel_plan::message& m);
  bool look_at_kernel() noexcept;
  void tell_whether_over() noexcept;
  bool look_at_signals() noexcept;

  std::uint64_t number_;  // of the call in the room
  exchange::launch_context context_;
  memory::buffer leaving_, coming_;
  exchange::run run_;
  int blocks_ = 0;               // of the kernel
  bool runs_ = false;            // the kernel
  std::uint64_t signalled_ = 0;  // signals that all blocks have sent
  std::uint64_t come_ = 0;       // messages that the kernel has been told of
  bool launched_ = false, told_ = false, told_over_ = false;
};

}  // namespace telpher::coll::between
