// SPDX-License-Identifier: BSD-3-Clause
// Counts the operations of ours that streams of the program have not reached, or wait for ("held"
// streams). While there are any, Telpher must not call what waits for the whole device, such as
// closing a mapping or freeing memory. The call would wait for the stream, and the stream waits for
// us. Such calls are put off until no stream is held. One mutex excludes both: no stream becomes
// held while such a call runs, and no such call begins while a stream is held.
//
// A stream may also wait for something that the program's thread does next. Nobody tells us of
// that, and CUDA keeps all threads out of the driver while one waits for the device. So threads of
// the program make these calls: in ordinary calls of MPI, or in a call that enqueues and finds its
// stream without work. A thread of ours makes them only if it cannot open a peer's memory before
// they are made.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lasting.hpp"

namespace telpher::memory {

class held_streams {
 public:
  static held_streams& instance() noexcept;

  /// begin() is called before an operation is given to a stream, end() once the stream does not
  /// wait for it any more. Not for kernels that do not hold the stream.
  void begin() noexcept {
    const std::lock_guard lock(mutex_);
    held_.fetch_add(1, std::memory_order_relaxed);
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    held_.fetch_sub(1, std::memory_order_relaxed);
    changes_.fetch_add(1, std::memory_order_relaxed);
  }
  /// This thread is ours: it puts all calls off.
  static void make_none_here() noexcept { puts_all_off_ = true; }

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
  /// Rises whenever a stream is held no more, and when calls that were put off have been made.
  std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }
  /// Makes the call at once, or puts it off.
  void call_when_free(std::function<void()> call) noexcept {
    ask();
    const std::lock_guard lock(mutex_);
    if (made_now(call)) return;
    put_off_.push_back(std::move(call));
    some_put_off_.store(true, std::memory_order_relaxed);
  }
  /// Makes the call only if that can be at once, and says whether. Calls that are put off cost
  /// every call that enqueues a look at its stream.
  bool call_if_free(const std::function<void()>& call) noexcept {
    ask();
    const std::lock_guard lock(mutex_);
    return made_now(call);
  }
  /// Whether calls wait to be made in this thread; a hint.
  bool has_calls() const noexcept {
    return some_put_off_.load(std::memory_order_relaxed) && !puts_all_off_;
  }
  /// Makes the calls that were put off, if no stream is held.
  void make_calls() noexcept {
    if (has_calls()) make_needed_calls();
  }
  /// The same in any thread: something cannot be done before.
  void make_needed_calls() noexcept {
    ask();
    std::vector<std::function<void()>> made;  // what they hold is freed after the lock: that may
    const std::lock_guard lock(mutex_);       // put off another call
    if (any()) return;
    some_put_off_.store(false, std::memory_order_relaxed);
    made.swap(put_off_);
    for (const auto& call : made) call();
    changes_.fetch_add(1, std::memory_order_release);
  }

 private:
  /// Under the mutex.
  bool made_now(const std::function<void()>& call) noexcept {
    if (puts_all_off_ || any()) return false;
    call();
    return true;
  }
  void ask() const noexcept {
    if (auto* const look = look_.load(std::memory_order_acquire); look && any()) look();
  }

  static inline constinit thread_local bool puts_all_off_ = false;
  std::mutex mutex_;
  std::atomic<void (*)()> look_{nullptr};
  std::atomic<int> held_{0};               // changes under mutex_
  std::atomic<std::uint64_t> changes_{0};  // rises under mutex_
  std::vector<std::function<void()>> put_off_;
  std::atomic<bool> some_put_off_{false};
};

inline constinit lasting<held_streams> the_held_streams;
inline held_streams& held_streams::instance() noexcept {
  return *the_held_streams;
}

}  // namespace telpher::memory
