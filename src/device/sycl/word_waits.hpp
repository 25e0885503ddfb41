// SPDX-License-Identifier: BSD-3-Clause
// Queues that wait for words in memory, for which SYCL has no command. A queue waits for an event
// that the host ends, and one thread of the process looks at the words.
//
// Under the mutex: add() enqueues the wait in the queue, and adds it to the list. The thread looks
// at every word (acquire) and ends the event of each word that has reached its value. It drops a
// wait when the queue has passed it, and sleeps while the list is empty.
#pragma once

#include <sycl/queue.hpp>

#include <condition_variable>
#include <list>
#include <mutex>

#include "device/sycl/host_event.hpp"

namespace telpher::device::sycl {

class word_waits {
 public:
  static word_waits& instance() noexcept;
  /// What is submitted to the in-order queue later begins when the word is `value` or more; then
  /// the event ends, too. Throws what SYCL throws, and std::system_error where no thread can be
  /// had.
  ::sycl::event add(const place& where, ::sycl::queue& q, std::uint32_t* word, std::uint32_t value);

 private:
  struct wait {
    wait(const place& where, std::uint32_t* w, std::uint32_t v) : gate(where), word(w), value(v) {}
    host_event gate;
    std::uint32_t* word;
    std::uint32_t value;
    bool ended = false;
    ::sycl::event passed;
  };
  void look();

  std::mutex mutex_;
  std::condition_variable added_;
  bool looking_ = false;
  std::list<wait> waits_;
};

}  // namespace telpher::device::sycl
