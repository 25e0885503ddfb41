// SPDX-License-Identifier: BSD-3-Clause
// What surrounds each call of a vendor's runtime: the device that is current meanwhile, what its
// error means, and whether the process is ending. And the set of addresses that back ends keep.
#pragma once

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <unordered_set>

#include "base/log.hpp"
#include "base/status.hpp"

namespace telpher::device::gpurt {

/// begun() is true once static destructors run, because vendors' runtimes are being torn down then,
/// or when the program has destroyed what this process has on its devices.
class process_exit {
 public:
  static void watch() noexcept {
    static const int registered = std::atexit([] { begun_.store(true); });
    static_cast<void>(registered);
  }
  static void begin() noexcept { begun_.store(true); }
  static bool begun() noexcept { return begun_.load(std::memory_order_relaxed); }

 private:
  static inline std::atomic<bool> begun_{false};
};

/// Converts a vendor error to a status; logs a failure with the vendor's text.
template <class R>
status check(typename R::error_type error, const char* call) noexcept {
  if (error == R::success) [[likely]]
    return status::ok;
  const status s = R::to_status(error);
  R::clear_error(error);
  if (s == status::would_block || process_exit::begun()) return s;
  if (s == status::not_supported)
    TELPHER_TRACE("%s %s: %s", R::name, call, R::error_text(error));
  else
    TELPHER_ERROR("%s %s failed: %s", R::name, call, R::error_text(error));
  return s;
}

/// Makes a device current for the life of the object.
template <class R>
class guard {
 public:
  explicit guard(int device) noexcept
      : status_(process_exit::begun() ? status::device_error
                                      : check<R>(R::enter(device, saved_), "set device")) {}
  ~guard() {
    if (status_ == status::ok) R::leave(saved_);
  }
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;
  status entered() const noexcept { return status_; }

 private:
  typename R::saved_type saved_{};
  status status_;
};

/// A thread-safe set of addresses.
class address_set {
 public:
  void insert(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    all_.insert(address);
  }
  void erase(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    all_.erase(address);
  }
  bool holds(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    return all_.count(address) != 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<const void*> all_;
};

}  // namespace telpher::device::gpurt
