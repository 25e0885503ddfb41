// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of the emulated device. A stream is a thread, started with its first work,
// that runs the work in order. Streams run concurrently, unless the topology gives the device fewer
// work queues than there are streams: the streams of a queue run their work in the order in which
// it was enqueued, and one that waits holds up the others. A stream has room for so much work only.
// A call that finds no room waits, and no other call gives work to the device meanwhile. GPUs do
// both, and programs that wait in a stream for work of another one stand still there. Threads are
// detached and touch only memory that is never freed at exit, so a process may end or fork while
// work is in flight. At exit the threads end with the process. In a forked child they do not exist,
// and every call returns error::forked.
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

/// The order of work of streams that share a queue.
class work_queue {
 public:
  std::uint64_t take_number() noexcept {
    const std::lock_guard lock(mutex_);
    return next_++;
  }
  void begin(std::uint64_t number) noexcept {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return turn_ == number; });
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    ++turn_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, turn_ = 0;
};

enum class priority { program, highest };

class stream_state : public std::enable_shared_from_this<stream_state>, public library_stream {
 public:
  /// `queue` is null if the stream shares none.
  stream_state(int device, std::shared_ptr<work_queue> queue);

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

  static constexpr std::size_t room = 1024;

  const int device_;
  const std::shared_ptr<work_queue> queue_;
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
std::shared_ptr<stream_state> make_stream(int device, priority p) noexcept;

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
