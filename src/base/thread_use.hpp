// SPDX-License-Identifier: BSD-3-Clause
// Locks of the message path, taken only with MPI_THREAD_MULTIPLE. A locked instruction is expensive
// there: it waits for all earlier stores, and these go to cache lines that the peer holds.
#pragma once

#include <atomic>
#include <mutex>

namespace telpher {

/// Whether several threads may be in the library at once. MPI_Init sets it before there are
/// messages. It is true until then, which is always safe.
inline std::atomic<bool> several_threads{true};

/// A std::lock_guard that locks only while several_threads is true.
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
