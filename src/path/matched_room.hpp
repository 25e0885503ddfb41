// SPDX-License-Identifier: BSD-3-Clause
// Some kernels wait for peers in the program's own streams, and the host cannot end them. Such
// kernels need a room, which is device memory that peers open. And they need the hold on streams: a
// stream that runs such a kernel counts as one that waits for us (memory/held_streams.hpp). It does
// so until the kernel is over or, once a graph contains such a kernel, as long as the room lives.
//
// A waiter counts launches: a matched end has one, a replay one for each block. At its end a launch
// writes to the waiter's word in pinned memory how many launches have ended. The host counts the
// launches that it makes, and compares the two numbers only when somebody asks. So a launch needs
// no event.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "memory/imported.hpp"
#include "path/slot.hpp"

namespace telpher::path {

class matched_room {
 public:
  /// Cleared, with `waiters` words of pinned memory. not_supported where kernels must not wait.
  /// Peers may be unable to open it (exported().exportable).
  static result<std::shared_ptr<matched_room>> make(const memory::place& where, std::size_t bytes,
                                                    std::size_t waiters) noexcept;
  ~matched_room();
  matched_room(const matched_room&) = delete;
  matched_room& operator=(const matched_room&) = delete;

  const memory::place& where() const noexcept { return where_; }
  const exported_memory& exported() const noexcept { return exported_; }
  std::byte* base() const noexcept { return base_; }
  /// The bytes that a part of so many bytes takes in a room, where parts are aligned.
  static constexpr std::size_t part(std::size_t bytes) noexcept {
    return (bytes + 255) / 256 * 256;
  }
  /// The next part, as an offset.
  std::uint64_t take(std::size_t bytes) noexcept {
    return std::exchange(next_, next_ + part(bytes));
  }
  /// The next so many waiters, as the number of the first.
  std::size_t take_waiters(std::size_t count) noexcept {
    return std::exchange(next_waiter_, next_waiter_ + count);
  }
  /// Where a waiter's kernel says how many of its launches have ended: the low 32 bits count.
  std::uint64_t* ended(std::size_t waiter) const noexcept;
  /// launches() is called before a launch of these waiters, takes_back() after it if it failed.
  void launches(std::size_t first, std::size_t count) noexcept { count_launch(first, count, 1); }
  void takes_back(std::size_t first, std::size_t count) noexcept { count_launch(first, count, -1); }
  /// How many launches of all rooms are not over. A lower bound: launches by graphs are counted at
  /// their end, not at their start.
  static int under_way() noexcept;
  /// To be called before a graph gets kernels that wait: from then on streams are held as long as
  /// the room lives.
  void captured() noexcept;

  struct waiters;

 private:
  explicit matched_room(const memory::place& where) noexcept;
  void count_launch(std::size_t first, std::size_t count, int change) noexcept;

  memory::place where_;
  std::byte* base_ = nullptr;
  exported_memory exported_{};
  std::unique_ptr<waiters> waiters_;
  std::uint64_t next_ = 0;
  std::size_t next_waiter_ = 0;
  bool captured_ = false;
};

}  // namespace telpher::path
