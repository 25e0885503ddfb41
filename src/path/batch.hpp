// SPDX-License-Identifier: BSD-3-Clause
// Launches the copy_batch kernel and polls the flags by which the host sees each piece finish. A
// slot holds the flags (pinned host memory) and the arrival counters (device memory) of one launch.
// It is free again when every piece was seen done. If a launch ends without setting its flags (a
// fault), its slot is never used again, because its counters have unknown values.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "memory/memory.hpp"
#include "path/kernel_watch.hpp"

namespace telpher::path {

class batched_copier {
 public:
  struct ticket {
    std::uint16_t batch;
    std::uint16_t piece;
  };

  explicit batched_copier(const memory::place& where) noexcept : where_(where) {}

  /// Starts one kernel for `count` pieces (1 to copy_batch::capacity). Returns the ticket of the
  /// first piece; those of the others follow it. After an error nothing was started.
  result<ticket> launch(const kernel::copy_batch::piece* pieces, std::size_t count) noexcept;
  /// ok when the piece, which has `bytes` bytes, has arrived; device_error if it never will. Each
  /// piece must be polled until then.
  status poll(const ticket& t, std::size_t bytes) noexcept;
  /// The number of launches with a piece that was not seen done.
  int in_flight() const noexcept { return in_flight_; }
  /// The bytes of pieces that were not seen done.
  std::size_t bytes_in_flight() const noexcept { return bytes_in_flight_; }

 private:
  struct slot {
    std::uint32_t* done;  // one word for each piece
    std::uint32_t* arrivals;
    std::uint32_t round = 0;  // the value that marks a piece of the current launch as done
    std::size_t pieces = 0;
    std::size_t outstanding = 0;
    device::stream stream{};
    kernel_watch watch{};
    bool lost = false;
  };
  status prepare() noexcept;
  result<std::size_t> free_slot() noexcept;
  bool arrived(const slot& s, std::uint16_t piece) const noexcept;
  bool is_lost(slot& s) noexcept;

  memory::place where_;
  memory::buffer flags_;     // done flags of all slots
  memory::buffer counters_;  // arrival counters of all slots
  std::vector<slot> slots_;
  int processors_ = 0;
  unsigned turn_ = 0;  // counter for the choice of a stream
  int in_flight_ = 0;
  std::size_t bytes_in_flight_ = 0;
};

}  // namespace telpher::path
