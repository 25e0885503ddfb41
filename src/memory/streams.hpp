// SPDX-License-Identifier: BSD-3-Clause
// Pooled events, streams of one owner, and the life of our streams, which memory.hpp declares.
#pragma once

#include <utility>

#include "memory/memory.hpp"

namespace telpher::memory {

/// An event of a device; returned to the pool on destruction.
class pooled_event {
 public:
  pooled_event() = default;
  pooled_event(pooled_event&& o) noexcept
      : where_(o.where_),
        event_(std::exchange(o.event_, {})),
        holds_(std::exchange(o.holds_, false)) {}
  pooled_event& operator=(pooled_event&& o) noexcept {
    std::swap(where_, o.where_);
    std::swap(event_, o.event_);
    std::swap(holds_, o.holds_);
    return *this;
  }
  ~pooled_event() { give_back(); }

  static result<pooled_event> acquire(const place& p) noexcept;

  explicit operator bool() const noexcept { return static_cast<bool>(event_); }
  status record(device::stream s) const noexcept { return where_.owner->record(event_, s); }
  status query() const noexcept { return where_.owner->query(event_); }
  /// For an event that was recorded after work of the program's. That work may itself wait for a
  /// later call of the program. So the stream counts as one that waits for us (held_streams.hpp)
  /// until this event is given back.
  void hold_stream() noexcept;

 private:
  pooled_event(const place& p, device::event e) noexcept : where_(p), event_(e) {}
  void give_back() noexcept;

  place where_;
  device::event event_;
  bool holds_ = false;
};

/// A stream of a device that ends with its owner; its work may still run.
class own_stream {
 public:
  own_stream() = default;
  own_stream(own_stream&& o) noexcept : owner_(o.owner_), stream_(std::exchange(o.stream_, {})) {}
  own_stream& operator=(own_stream&& o) noexcept {
    std::swap(owner_, o.owner_);
    std::swap(stream_, o.stream_);
    return *this;
  }
  ~own_stream() {
    if (stream_) owner_->destroy_stream(stream_);
  }

  static result<own_stream> make(const place& p) noexcept {
    const auto made = p.owner->create_stream(p.device);
    if (!made) return made.error();
    own_stream s;
    s.owner_ = p.owner;
    s.stream_ = *made;
    return s;
  }

  device::stream get() const noexcept { return stream_; }

 private:
  device::backend* owner_ = nullptr;
  device::stream stream_;
};

/// Makes every stream of ours on a device now. Making a stream may wait for the device, and so may
/// the loading of kernels that comes with the first one. Later that could be a deadlock, because a
/// stream of the program may wait for us.
status make_streams(const place& p) noexcept;
/// backend::before_waits, before a stream waits for us there. False: not done, as a stream is held.
bool before_waits(const place& p) noexcept;

/// Sets bytes of a device to 0 and waits.
status clear_and_wait(const place& p, void* from, std::size_t bytes) noexcept;

/// Waits until one of our streams is idle; used when cleaning up after an error. If the wait itself
/// fails, the stream has failed as a whole and nothing runs on it.
void wait_for(const place& p, stream_role r) noexcept;

/// Destroys every stream and pooled event; part of shut_down.
void release_streams() noexcept;

}  // namespace telpher::memory
