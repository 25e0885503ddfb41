// SPDX-License-Identifier: BSD-3-Clause
// Streams and events of the emulated device. A stream is a thread, started with its first work,
// that runs the work in order. A call that waits for the stream runs, in its own thread,
// the work that has not begun.
//
// Some limits of GPUs are emulated, because programs that wait in a stream for work of another one
// may stand still there. Streams run concurrently, unless the topology gives the device fewer work
// queues than there are streams. The streams of a queue run their work in the order in which it was
// enqueued, and one that waits holds up the others. A stream has room for a limited number of
// pieces of work. A call that finds no room waits, as does one that frees memory while there is
// work. Meanwhile no other call gives work to the device.
//
// Threads are detached and touch only memory that is never freed at exit, so a process may end or
// fork while work is in flight. At exit the threads end with the process. In a forked child they do
// not exist, and every call returns error::forked.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "device/emu/errors.hpp"
#include "device/emu/graph.hpp"
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
    {
      const std::lock_guard lock(mutex_);
      ++turn_;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t next_ = 0, turn_ = 0;
};

enum class priority { program, highest };

/// How streams of a device wait for each other, as in CUDA. Work of the legacy default stream waits
/// for what the blocking streams were given before, and their work for what the legacy stream was
/// given before. Only the threads' own default streams are blocking here.
enum class ordering { alone, blocking, legacy };

class stream_state : public std::enable_shared_from_this<stream_state>, public library_stream {
 public:
  /// `queue` is null if the stream shares none.
  stream_state(int device, std::shared_ptr<work_queue> queue, ordering o);

  int device() const noexcept { return device_; }
  bool waits_for(const stream_state& other) const noexcept {
    return device_ == other.device_ && ordering_ != other.ordering_ &&
           ordering_ != ordering::alone && other.ordering_ != ordering::alone;
  }
  /// While the stream is captured its graph takes the work.
  error enqueue(std::function<void()> work) noexcept;
  void synchronise() noexcept;
  /// How many pieces of work it has been given, and a wait until so many are done.
  std::uint64_t given() noexcept;
  void wait_for(std::uint64_t given) noexcept;
  /// fail() records that a kernel has died; take_failure() says whether one has since its last
  /// call.
  void fail() noexcept { failed_.store(true, std::memory_order_relaxed); }
  bool take_failure() noexcept { return failed_.exchange(false, std::memory_order_relaxed); }
  /// False if it is captured already.
  bool begin_capture() noexcept;
  /// False if it is not captured.
  bool invalidate_capture() noexcept;
  /// What was captured; null if nothing was, or the capture has failed.
  std::shared_ptr<graph_state> end_capture() noexcept;
  /// The graph that takes the stream's work, or null.
  std::shared_ptr<graph_state> captured() noexcept;
  bool capture_failed() noexcept;
  /// Declares that no more work comes; queued work is still done.
  void close() noexcept;
  bool closed() noexcept;

 private:
  bool start_thread() noexcept;
  void run() noexcept;
  /// Takes the first work and does it, unlocked.
  void do_first(std::unique_lock<std::mutex>& lock) noexcept;

  static constexpr std::size_t room = 1024;

  const int device_;
  const std::shared_ptr<work_queue> queue_;
  const ordering ordering_;
  // To be unlocked before a thread is woken for work, so that the thread does not find it locked.
  std::mutex mutex_;
  std::condition_variable came_;     // the stream's thread waits: for work, or for its end
  std::condition_variable changed_;  // everybody else waits: for room, or for work to be done
  std::deque<std::function<void()>> work_;
  std::uint64_t given_ = 0, done_ = 0;
  std::shared_ptr<graph_state> graph_;  // while it is captured
  bool capture_failed_ = false;
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

namespace streams {

/// synchronise_device waits for the stream until it is destroyed.
std::shared_ptr<stream_state> make_stream(int device, priority p,
                                          ordering o = ordering::alone) noexcept;

/// `work` of the stream `own`, preceded by a wait for what the streams that it waits for were given
/// so far.
std::function<void()> after_others(const stream_state& own, std::function<void()> work) noexcept;

/// The stream whose library_stream lies at `handle`; null if there is none that is not closed.
std::shared_ptr<stream_state> find_stream(const void* handle) noexcept;

/// Waits for all work of a device, or of `all_devices`, closed streams included.
constexpr int all_devices = -1;
void synchronise_device(int device) noexcept;
/// The same; meanwhile, calls that give work to the device wait. A GPU's driver does this when
/// memory is freed.
void drain_device(int device) noexcept;

/// True in a child that was forked after watch_forks().
bool forked() noexcept;
void watch_forks() noexcept;

/// Waits until `microseconds` have passed since `start_ns` (kernel::now_ns).
void wait_until(std::uint64_t start_ns, double microseconds) noexcept;

}  // namespace streams
}  // namespace telpher::device::emu
