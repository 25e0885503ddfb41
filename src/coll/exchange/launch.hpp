// SPDX-License-Identifier: BSD-3-Clause
// Runs of the exchange kernel. A process has a few lanes, each a stream of its own with the words
// in pinned memory by which the host sees the end of a run and ends it early; a run holds its lane.
// Their number bounds how many kernels that wait for peers a device may hold at once: all of them
// must find room beside each other, or two communicators could block one another.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory.hpp"

namespace telpher::coll::exchange {

constexpr int most_lanes = 4;

struct lane_state;

/// A held lane; free again on destruction.
class lane {
 public:
  lane() = default;
  lane(lane&& o) noexcept;
  lane& operator=(lane&& o) noexcept;
  ~lane();
  /// would_block: all are in use.
  static result<lane> take(const memory::place& where) noexcept;

  explicit operator bool() const noexcept { return state_ != nullptr; }
  device::stream stream() const noexcept;

 private:
  explicit lane(lane_state* s) noexcept : state_(s) {}
  friend class run;
  lane_state* state_ = nullptr;
};

/// One launch of an exchange kernel.
class run {
 public:
  /// Fills in the program and what the host watches, and launches. `parameters` has the rest.
  status start(lane& on, kernel::id k, kernel::exchange& parameters,
               const std::vector<std::uint64_t>& program, int blocks) noexcept;
  /// Whether all blocks are through.
  bool done() const noexcept;
  /// Blocks that wait shall give up; done() follows.
  void stop() noexcept;

 private:
  lane_state* state_ = nullptr;
  memory::buffer long_code_;
  std::uint32_t number_ = 0;
};

/// Gives streams and memory back.
void release_lanes() noexcept;

}  // namespace telpher::coll::exchange
