// SPDX-License-Identifier: BSD-3-Clause
// Runs of the exchange kernel. A process has a few lanes, each a stream of its own with the words
// in pinned memory by which the host sees the end of a run and ends it early; a run holds its lane.
// Their number bounds how many kernels that wait for peers a device may hold at once: all of them
// must find room beside each other, or two communicators could block one another. After a small
// call in a burst a lane's kernel stays for the next (kernel/exchange_stay.hpp), in a second
// stream, so that what else the lane does never queues behind it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/kernel_watch.hpp"

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
  /// Of the next run: what the communicator knows is filled in by the caller (epoch, packed_epoch,
  /// me, flags), the rest by run::start.
  kernel::exchange& parameters() const noexcept;

 private:
  explicit lane(lane_state* s) noexcept : state_(s) {}
  friend class run;
  lane_state* state_ = nullptr;
};

/// Whether a kernel that stays may do a program: what the program uses of the launch's parameters.
enum class staying { no, packed, with_flags };

/// One run of an exchange kernel, in as many launches as it takes (kernel/exchange.hpp, Pauses).
class run {
 public:
  static constexpr int most_blocks = 256;

  /// Takes at most kernel::exchange::most_blocks blocks for a program that waits.
  status start(lane& on, kernel::id k, const std::vector<std::uint64_t>& program, int blocks,
               staying way = staying::no) noexcept;
  /// ok: all blocks are through, or were stopped. would_block: not yet; a kernel that paused was
  /// launched again. device_error: the kernel has died.
  status poll() noexcept;
  /// Blocks that wait shall give up; poll() tells when they have.
  void stop() noexcept;

 private:
  status launch() noexcept;
  bool taken_by_resident(staying way) noexcept;
  void next_number() noexcept;
  bool all_ended() noexcept;
  bool has_died() noexcept;

  lane_state* state_ = nullptr;
  memory::buffer long_code_;
  kernel::id kernel_{};
  int blocks_ = 0;
  std::uint32_t number_ = 0;
  int ended_ = 0;  // blocks that are known to have ended
  bool paused_ = false;
  bool commanded_ = false;  // given to a kernel that was there
  bool stopped_ = false;
  path::kernel_watch watch_;
};

/// Gives streams and memory back.
void release_lanes() noexcept;

}  // namespace telpher::coll::exchange
