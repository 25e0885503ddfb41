// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of the emulated device. A stream is a thread, started with its first work,
// that runs the work in order. Streams run concurrently. Threads are detached and touch only memory
// that is never freed at exit, so a process may end or fork while work is in flight. At exit the
// threads end with the process. In a forked child they do not exist, and every call returns
// error::forked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "device/emu/errors.hpp"
#include "device/emu/library_stream.hpp"

namespace telpher::device::emu {

class stream_state : public std::enable_shared_from_this<stream_state>, public library_stream {
 public:
  explicit stream_state(int device);

  int device() const noexcept { return device_; }
  error enqueue(std::function<void()> work) noexcept;
  void synchronise() noexcept;
  /// fail() records that a kernel has died; take_failure() says whether one has since its last
  /// call.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  bool take_failure() noexcept { return failed_.exchange(false, std::memory_order_relaxed); }
  /// Declares that no more work comes; queued work is still done.
  void close() noexcept;
  bool closed() noexcept;

 private:
  bool start_thread() noexcept;
  void run() noexcept;

  const int device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;
  bool has_thread_ = false;
  bool busy_ = false;
  bool closing_ = false;
  std::atomic<bool> failed_{false};
};

/// An event is done when the work before its last record is done. Records are numbered, because an
/// earlier record may finish later, in another stream.
struct event_state {
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> failed{false};  // a kernel before the record died; published by `done`
};

namespace engine {

/// synchronise_device waits for the stream until it is destroyed.
std::shared_ptr<stream_state> make_stream(int device) noexcept;

/// The stream whose library_stream lies at `handle`; null if there is none that is not closed.
std::shared_ptr<stream_state> find_stream(const void* handle) noexcept;

/// Waits for all work of a device, or of `all_devices`, closed streams included; what freeing
/// memory does on a GPU.
constexpr int all_devices = -1;
void synchronise_device(int device) noexcept;

/// True in a child that was forked after watch_forks().
bool forked() noexcept;
void watch_forks() noexcept;

/// Between two looks at what a stream waits for: spins, then yields, then sleeps.
void pause(int looks) noexcept;

/// Waits until `microseconds` have passed since `start_ns` (kernel::now_ns).
void wait_until(std::uint64_t start_ns, double microseconds) noexcept;

}  // namespace engine
}  // namespace telpher::device::emu
