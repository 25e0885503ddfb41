// SPDX-License-Identifier: BSD-3-Clause
// A stream: an in-order queue in a place's context, the event of the last work submitted, and
// memory for the parameters of kernels in flight. The queue may be the program's: then the program
// submits to it, too. Thread-safe. Functions throw what SYCL throws.
#pragma once

#include <sycl/event.hpp>
#include <sycl/queue.hpp>

#include <list>
#include <mutex>
#include <optional>

#include "device/sycl/places.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device::sycl {

class work_queue {
 public:
  explicit work_queue(int device);
  /// A queue of the program's, in order and in the place's context.
  work_queue(int device, const ::sycl::queue& of_program);
  ~work_queue();
  work_queue(const work_queue&) = delete;
  work_queue& operator=(const work_queue&) = delete;

  int device() const noexcept { return device_; }
  void copy(void* to, const void* from, std::size_t bytes);
  void fill(void* to, int byte, std::size_t bytes);
  status launch(kernel::id k, const void* parameters, int blocks, int threads);
  void write(std::uint32_t* word, std::uint32_t value);
  void wait_for(std::uint32_t* word, std::uint32_t value);
  void wait();
  /// The event of the last work submitted; none if there was none.
  std::optional<::sycl::event> last();
  ::sycl::queue& native() noexcept { return queue_; }

 private:
  // A kernel reads its parameters from `device`. On a GPU they are copied there from `host`, so
  // that its work items do not read them over the bus. Both are null until first used.
  struct parameter_slot {
    void* host = nullptr;
    void* device = nullptr;
    std::optional<::sycl::event> user;
  };
  parameter_slot& free_slot();

  int device_;
  bool of_program_ = false;
  const place& where_;
  std::mutex mutex_;
  ::sycl::queue queue_;
  std::optional<::sycl::event> last_;
  std::list<parameter_slot> slots_;  // least recently used first
};

/// The queue behind a stream: ours, or one of the program's while it is adopted.
inline work_queue& queue_of(stream s) noexcept {
  return *static_cast<work_queue*>(s.handle);
}

bool is_done(const ::sycl::event& e);

}  // namespace telpher::device::sycl
