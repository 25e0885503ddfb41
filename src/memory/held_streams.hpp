// SPDX-License-Identifier: BSD-3-Clause
// Counts the streams of the program that wait, or may wait, for an operation of ours ("held"
// streams). While there are any, Telpher must not call what waits for the whole device, such as
// closing a mapping or freeing memory. The call would wait for the stream, and the stream waits for
// us. Such calls are put off until no stream is held. One mutex excludes both: no stream becomes
// held while such a call runs, and no such call begins while a stream is held.
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

  /// begin() is called before a stream is made to wait, end() once it does not wait any more. The
  /// last end() makes the calls that were put off.
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    held_.fetch_add(1, std::memory_order_relaxed);
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (held_.fetch_sub(1, std::memory_order_relaxed) > 1) return;
    for (const auto& call : std::exchange(put_off_, {})) call();
  }

  /// Sets a function that is called before it is decided whether calls must be put off. It calls
  /// end() for holds that are over but whose end nobody has noticed (path/matched_room.cpp).
  void ask_by(void (*look)()) noexcept { look_.store(look, std::memory_order_release); }

  /// Whether streams wait; a hint.
  bool any() const noexcept { return held_.load(std::memory_order_relaxed) > 0; }
  /// Whether calls wait to be made.
  bool any_put_off() noexcept {
    ask();
    const std::lock_guard lock(mutex_);
    return !put_off_.empty();
  }
  /// Makes the call at once, or when no stream is held any more.
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
