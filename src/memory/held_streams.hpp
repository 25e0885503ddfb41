// SPDX-License-Identifier: BSD-3-Clause
// Streams of the program that wait for an operation of ours. While there are any, nothing that
// waits for the whole device may be called for that operation's sake: closing or freeing memory
// would wait for the stream, which waits for us. Such calls are put off until no stream waits. One
// mutex decides: a stream is made to wait only while no such call runs, and the other way round.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.hpp"

namespace telpher::memory {

class held_streams {
 public:
  static held_streams& instance() noexcept;

  /// Before a stream is made to wait, and after its word was written.
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    held_.fetch_add(1, std::memory_order_relaxed);
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (held_.fetch_sub(1, std::memory_order_relaxed) > 1) return;
    for (const auto& call : std::exchange(put_off_, {})) call();
  }

  /// Before it is decided whether calls must be put off: `look` ends those holds that are over and
  /// of which nobody else hears.
  void ask_by(void (*look)()) noexcept { look_.store(look, std::memory_order_release); }

  /// Whether streams wait; a hint.
  bool any() const noexcept { return held_.load(std::memory_order_relaxed) > 0; }
  /// Whether calls wait to be made.
  bool any_put_off() noexcept {
    ask();
    const std::lock_guard lock(mutex_);
    return !put_off_.empty();
  }
  /// Calls at once, or when no stream waits any more.
  void call_when_free(std::function<void()> call) noexcept {
    ask();
    const std::lock_guard lock(mutex_);
    if (any())
      put_off_.push_back(std::move(call));
    else
      call();
  }

 private:
  void ask() const noexcept {
    if (auto* const look = look_.load(std::memory_order_acquire); look && any()) look();
  }

  std::mutex mutex_;
  std::atomic<void (*)()> look_{nullptr};
  std::atomic<int> held_{0};  // changes under mutex_
  std::vector<std::function<void()>> put_off_;
};

inline constinit lasting<held_streams> the_held_streams;
inline held_streams& held_streams::instance() noexcept {
  return *the_held_streams;
}

}  // namespace telpher::memory
