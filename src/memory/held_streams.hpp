// SPDX-License-Identifier: BSD-3-Clause
// Streams of the program that wait for an operation of ours. While there are any, nothing that
// waits for the whole device may be called for that operation's sake: closing or freeing memory
// would wait for the stream, which waits for us. Such calls are put off until no stream waits. One
// mutex decides: a stream is made to wait only while no such call runs, and the other way round.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace telpher::memory {

class held_streams {
 public:
  static held_streams& instance() noexcept {
    static auto* const one = new held_streams;
    return *one;
  }

  /// Before a stream is made to wait, and after its word was written.
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    ++held_;
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    if (--held_ > 0) return;
    for (const auto& call : std::exchange(put_off_, {})) call();
  }

  /// Whether calls wait to be made.
  bool any_put_off() noexcept {
    const std::lock_guard lock(mutex_);
    return !put_off_.empty();
  }
  /// Calls at once, or when no stream waits any more.
  void call_when_free(std::function<void()> call) noexcept {
    const std::lock_guard lock(mutex_);
    if (held_ > 0)
      put_off_.push_back(std::move(call));
    else
      call();
  }

 private:
  std::mutex mutex_;
  int held_ = 0;
  std::vector<std::function<void()>> put_off_;
};

}  // namespace telpher::memory
