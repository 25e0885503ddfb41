// SPDX-License-Identifier: BSD-3-Clause
// Locks of the message path that are taken only where the program may call MPI from several threads
// at once (MPI_THREAD_MULTIPLE). A locked instruction costs more than its own cycles there: it
// waits for all stores before it, and those travel to lines that the other rank has.
#pragma once

#include <atomic>
#include <mutex>

namespace telpher {

/// Whether several threads may be in the library at once. Written by MPI_Init, before there are
/// messages; true before that, which is always right.
inline std::atomic<bool> several_threads{true};

/// std::lock_guard while several_threads.
class guard_threads {
 public:
  explicit guard_threads(std::mutex& m) noexcept
      : mutex_(several_threads.load(std::memory_order_relaxed) ? &m : nullptr) {
    if (mutex_) mutex_->lock();
  }
  ~guard_threads() {
    if (mutex_) mutex_->unlock();
  }
  guard_threads(const guard_threads&) = delete;
  guard_threads& operator=(const guard_threads&) = delete;

 private:
  std::mutex* mutex_;
};

}  // namespace telpher
