// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/word_waits.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "device/sycl/guarded.hpp"
#include "device/sycl/queue.hpp"

namespace telpher::device::sycl {

word_waits& word_waits::instance() noexcept {
  static auto* one = new word_waits;  // never destroyed: its thread ends with the process
  return *one;
}

::sycl::event word_waits::add(const place& where, ::sycl::queue& q, std::uint32_t* word,
                              std::uint32_t value) {
  std::lock_guard lock(mutex_);
  if (!looking_) std::thread([this] { look(); }).detach();
  looking_ = true;
  std::list<wait> made;
  wait& w = made.emplace_back(where, word, value);
  w.passed = q.ext_oneapi_submit_barrier(std::vector<::sycl::event>{w.gate.event()});
  const ::sycl::event passed = w.passed;
  waits_.splice(waits_.end(), made);
  added_.notify_one();
  return passed;
}

void word_waits::look() {
  constexpr auto pause = std::chrono::microseconds(10);
  std::unique_lock lock(mutex_);
  while (!process_exit::begun()) {
    added_.wait(lock, [&] { return !waits_.empty(); });
    const status s = guarded("wait for a word", [&] {
      std::erase_if(waits_, [](wait& w) {
        if (w.ended) return is_done(w.passed);
        w.ended = std::atomic_ref(*w.word).load(std::memory_order_acquire) >= w.value;
        if (w.ended) w.gate.end();
        return false;
      });
      return status::ok;
    });
    if (failed(s)) waits_.remove_if([](const wait& w) { return w.ended; });
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
}

}  // namespace telpher::device::sycl
