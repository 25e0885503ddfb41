// SPDX-License-Identifier: BSD-3-Clause
#include "device/emu/streams.hpp"

#include <sched.h>
#include <time.h>

#include <array>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/blocked_signals.hpp"
#include "base/lasting.hpp"
#include "device/emu/topology.hpp"
#include "kernel/lang.hpp"

namespace telpher::device::emu {

namespace {

/// Held by a call that gives work to a device, in a full stream until it has room, or drains it.
std::mutex& submission(int device) {
  static constinit lasting<std::array<std::mutex, device_limit>> all;
  return (*all)[static_cast<std::size_t>(device)];
}

}  // namespace

stream_state::stream_state(int device, std::shared_ptr<work_queue> queue, ordering o)
    : device_(device), queue_(std::move(queue)), ordering_(o) {
  append = [](library_stream& to, void (*work)(void*), void* argument) {
    const auto task = [work, argument] { work(argument); };
    return static_cast<stream_state&>(to).enqueue(task) == error::success;
  };
  bytes_at = [](void* address) { return kernel::resolve(address); };
}

error stream_state::enqueue(std::function<void()> work) noexcept {
  const std::lock_guard one_call(submission(device_));
  if (ordering_ != ordering::alone) work = streams::after_others(*this, std::move(work));
  std::unique_lock lock(mutex_);
  if (graph_) {
    if (capture_failed_) return error::capture_failed;
    graph_->add(std::move(work));
    return error::success;
  }
  if (!has_thread_ && !start_thread()) return error::out_of_memory;
  changed_.wait(lock, [&] { return work_.size() < room; });
  if (queue_)
    work = [queue = queue_.get(), number = queue_->take_number(), own = std::move(work)] {
      queue->begin(number);
      own();
      queue->end();
    };
  work_.push_back(std::move(work));
  ++given_;
  lock.unlock();
  came_.notify_one();
  return error::success;
}

bool stream_state::begin_capture() noexcept {
  const std::lock_guard lock(mutex_);
  if (graph_) return false;
  graph_ = std::make_shared<graph_state>();
  capture_failed_ = false;
  return true;
}

bool stream_state::invalidate_capture() noexcept {
  const std::lock_guard lock(mutex_);
  if (!graph_) return false;
  return capture_failed_ = true;
}

std::shared_ptr<graph_state> stream_state::end_capture() noexcept {
  const std::lock_guard lock(mutex_);
  auto captured = std::exchange(graph_, nullptr);
  return capture_failed_ ? nullptr : captured;
}

std::shared_ptr<graph_state> stream_state::captured() noexcept {
  const std::lock_guard lock(mutex_);
  return graph_;
}

bool stream_state::capture_failed() noexcept {
  const std::lock_guard lock(mutex_);
  return graph_ && capture_failed_;
}

bool stream_state::start_thread() noexcept {
  const blocked_signals blocked;
  try {
    std::thread([self = shared_from_this()] { self->run(); }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
  }
  return has_thread_;
}

void stream_state::run() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    came_.wait(lock, [&] { return !busy_ && (closing_ || !work_.empty()); });
    if (work_.empty()) return;
    do_first(lock);
  }
}

void stream_state::do_first(std::unique_lock<std::mutex>& lock) noexcept {
  std::function<void()> first = std::move(work_.front());
  const bool was_full = work_.size() == room;
  work_.pop_front();
  busy_ = true;
  lock.unlock();
  if (was_full) changed_.notify_all();
  first();
  first = nullptr;  // destroy the finished work's captures before taking the lock
  lock.lock();
  busy_ = false;
  ++done_;
  if (!work_.empty() && ordering_ == ordering::alone) return;
  lock.unlock();
  changed_.notify_all();
  lock.lock();
}

void stream_state::synchronise() noexcept {
  std::unique_lock lock(mutex_);
  while (!work_.empty() && !busy_) do_first(lock);  // no switch to the stream's thread and back
  if (closing_) came_.notify_one();                 // it may have found the stream busy
  changed_.wait(lock, [&] { return work_.empty() && !busy_; });
}

std::uint64_t stream_state::given() noexcept {
  const std::lock_guard lock(mutex_);
  return given_;
}

void stream_state::wait_for(std::uint64_t given) noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_ >= given; });
}

void stream_state::close() noexcept {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  came_.notify_one();
}

bool stream_state::closed() noexcept {
  const std::lock_guard lock(mutex_);
  return closing_;
}

namespace streams {
namespace {

/// The queues of the topology, which streams get in turn.
class queue_table {
 public:
  std::shared_ptr<work_queue> next(int device, priority p) {
    const auto count = static_cast<std::size_t>(topology::instance().queues);
    if (count == 0) return nullptr;
    queues& q = all_[static_cast<std::size_t>(device)][static_cast<std::size_t>(p)];
    if (q.made.size() < count) q.made.push_back(std::make_shared<work_queue>());
    return q.made[q.streams++ % count];
  }

 private:
  struct queues {
    std::vector<std::shared_ptr<work_queue>> made;
    std::size_t streams = 0;
  };
  std::array<std::array<queues, 2>, device_limit> all_;
};

struct directory {
  std::mutex mutex;
  queue_table queues;
  std::vector<std::weak_ptr<stream_state>> streams;
};

directory& all_streams() {
  static auto* one = new directory;
  return *one;
}

template <class Wanted>
std::vector<std::shared_ptr<stream_state>> streams_of(const Wanted& wanted) {
  std::vector<std::shared_ptr<stream_state>> found;
  directory& d = all_streams();
  const std::lock_guard lock(d.mutex);
  for (const auto& weak : d.streams)
    if (auto s = weak.lock(); s && wanted(*s)) found.push_back(std::move(s));
  return found;
}

std::atomic<bool> in_child{false};

}  // namespace

std::shared_ptr<stream_state> make_stream(int device, priority p, ordering o) noexcept {
  directory& d = all_streams();
  const std::lock_guard lock(d.mutex);
  auto made = std::make_shared<stream_state>(device, d.queues.next(device, p), o);
  std::erase_if(d.streams, [](const auto& s) { return s.expired(); });
  d.streams.push_back(made);
  return made;
}

void synchronise_device(int device) noexcept {
  for (const auto& s : streams_of(
           [&](const stream_state& s) { return device == all_devices || s.device() == device; }))
    s->synchronise();
}

std::function<void()> after_others(const stream_state& own, std::function<void()> work) noexcept {
  std::vector<std::pair<std::shared_ptr<stream_state>, std::uint64_t>> before;
  for (auto& s : streams_of([&](const stream_state& s) { return own.waits_for(s); })) {
    const std::uint64_t given = s->given();
    before.emplace_back(std::move(s), given);
  }
  return [before = std::move(before), work = std::move(work)] {
    for (const auto& [stream, given] : before) stream->wait_for(given);
    work();
  };
}

void drain_device(int device) noexcept {
  std::vector<std::unique_lock<std::mutex>> alone;
  for (int d = 0; d < device_limit; ++d)
    if (device == all_devices || device == d) alone.emplace_back(submission(d));
  synchronise_device(device);
}

std::shared_ptr<stream_state> find_stream(const void* handle) noexcept {
  directory& d = all_streams();
  const std::lock_guard lock(d.mutex);
  for (const auto& weak : d.streams)
    if (auto s = weak.lock(); s && static_cast<library_stream*>(s.get()) == handle && !s->closed())
      return s;
  return nullptr;
}

bool forked() noexcept {
  return in_child.load(std::memory_order_relaxed);
}

void watch_forks() noexcept {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { in_child.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
}

void wait_until(std::uint64_t start_ns, double microseconds) noexcept {
  constexpr double sleep_from_us = 100;  // shorter sleeps last much longer than requested
  const std::uint64_t end_ns = start_ns + static_cast<std::uint64_t>(microseconds * 1e3);
  if (microseconds > sleep_from_us) {
    const timespec end{static_cast<time_t>(end_ns / 1'000'000'000),
                       static_cast<long>(end_ns % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr);
  }
  while (now_ns() < end_ns) sched_yield();
}

}  // namespace streams
}  // namespace telpher::device::emu
