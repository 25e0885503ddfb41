// SPDX-License-Identifier: BSD-3-Clause
// Shared by the contract tests: the back end under test, scoped objects on it, and byte patterns.
// The same cases run on every back end. The tests ask a back end whether it can do something and
// never assume it.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "check_log.hpp"
#include "device/device.hpp"

#define CHECK_OK(expression) CHECK_EQ(::telpher::error_of(expression), ::telpher::status::ok)

namespace contract {

using namespace telpher;
using device::memory_kind;
using device::pointer_info;
using bytes = std::vector<std::uint8_t>;

/// The back end that --backend names.
device::backend& subject();
bool subject_is_emulated();

/// A second device: number 1, or 0 if the machine has only one.
int second_device();

inline bytes pattern(std::size_t size, unsigned seed) {
  bytes made(size);
  for (std::size_t i = 0; i < size; ++i)
    made[i] = static_cast<std::uint8_t>(i * 31 + i / 251 + seed * 101 + 7);
  return made;
}

/// Random numbers; the seed is fixed so that a failure repeats.
inline std::size_t random_below(std::size_t limit) {
  static std::mt19937_64 source(20240607);
  return limit ? source() % limit : 0;
}

/// Waits until `done()` is true; false after ten seconds.
inline bool eventually(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class scoped_stream {
 public:
  explicit scoped_stream(int device = 0) : stream_(subject().create_stream(device).value_or({})) {
    CHECK(stream_);
  }
  ~scoped_stream() { subject().destroy_stream(stream_); }
  scoped_stream(const scoped_stream&) = delete;
  scoped_stream& operator=(const scoped_stream&) = delete;
  operator device::stream() const { return stream_; }

 private:
  device::stream stream_;
};

class scoped_event {
 public:
  explicit scoped_event(int device = 0) : event_(subject().create_event(device).value_or({})) {
    CHECK(event_);
  }
  ~scoped_event() { subject().destroy_event(event_); }
  scoped_event(const scoped_event&) = delete;
  scoped_event& operator=(const scoped_event&) = delete;
  operator device::event() const { return event_; }
  bool done() const { return subject().query(event_) == status::ok; }

 private:
  device::event event_;
};

/// Memory of any kind; host memory comes from the heap.
class memory {
 public:
  memory(memory_kind kind, std::size_t size, int device = 0)
      : kind_(kind), device_(device), heap_(kind == memory_kind::host ? size : 0) {
    switch (kind) {
      case memory_kind::host:
        address_ = heap_.data();
        break;
      case memory_kind::pinned:
        address_ = subject().allocate_pinned(size).value_or(nullptr);
        break;
      case memory_kind::managed:
        address_ = subject().allocate_managed(size).value_or(nullptr);
        break;
      case memory_kind::device:
        address_ = subject().allocate(device, size).value_or(nullptr);
        break;
    }
    CHECK(address_ || size == 0);
  }
  ~memory() {
    if (kind_ == memory_kind::pinned) CHECK_OK(subject().release_pinned(address_));
    if (kind_ == memory_kind::managed) CHECK_OK(subject().release_managed(address_));
    if (kind_ == memory_kind::device) CHECK_OK(subject().release(device_, address_));
  }
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  std::uint8_t* data() const { return static_cast<std::uint8_t*>(address_); }
  template <class T>
  T* as() const {
    return static_cast<T*>(address_);
  }

 private:
  memory_kind kind_;
  int device_;
  bytes heap_;
  void* address_ = nullptr;
};

inline void write(void* to, const bytes& from, device::stream s) {
  CHECK_OK(subject().copy(to, from.data(), from.size(), s));
  CHECK_OK(subject().synchronise(s));
}

inline bytes read(const void* from, std::size_t size, device::stream s) {
  bytes found(size);
  CHECK_OK(subject().copy(found.data(), from, size, s));
  CHECK_OK(subject().synchronise(s));
  return found;
}

inline pointer_info describe(const void* address) {
  pointer_info info;
  CHECK_OK(subject().classify(address, true, info));
  return info;
}

inline memory_kind kind_of(const void* address) {
  pointer_info info;
  CHECK_OK(subject().classify(address, false, info));
  return info.kind;
}

}  // namespace contract
