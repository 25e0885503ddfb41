// SPDX-License-Identifier: BSD-3-Clause
// Numbers the devices. A number stands for a device in a context, because in SYCL memory belongs to
// a context. First come the devices in their platforms' default contexts, then those of contexts
// that the program registered. So streams, pools and copies work in the context that owns the
// memory they touch. Numbers never change and entries are never removed.
#pragma once

#include <sycl/context.hpp>
#include <sycl/device.hpp>
#include <sycl/queue.hpp>

#include <atomic>
#include <mutex>

#include "base/status.hpp"
#include "device/sycl/allocation.hpp"
#include "device/types.hpp"

namespace telpher::device::sycl {

struct place {
  ::sycl::context context;
  ::sycl::device device;
  native_context native;
  bool exports = false;    // other processes can open its device memory
  bool registers = false;  // plain host memory can be made accessible to it
};

class places {
 public:
  static places& instance() noexcept;

  /// Whether the program, or we, made the runtime look for devices. Does not start it.
  bool started() noexcept;
  /// Starts the runtime if necessary and lists its devices.
  status start() noexcept;
  /// Adds the devices of the queue's context. The runtime is running, because the queue exists.
  status adopt(const ::sycl::queue& queue) noexcept;

  /// The number of the queue's device in its context; -1 if it is not listed.
  int number_of(const ::sycl::queue& queue) const {
    return number_of(queue.get_context(), queue.get_device());
  }

  /// The number of listed devices; before start(), the number that system files tell.
  int count() noexcept;
  /// Whether queues of one place may not know memory of another.
  bool several_contexts() const noexcept { return several_.load(std::memory_order_relaxed); }
  bool has_cpu() const noexcept { return cpu_.load(std::memory_order_relaxed); }
  /// Throws std::out_of_range for a number that is not listed.
  const place& at(int device) const;

  /// Looks up an address; fills kind, owner and device of `out`. Returns the place whose context
  /// knows the address, or null for host memory. Throws what SYCL throws.
  const place* look_up(const void* address, pointer_info& out);

 private:
  void list_default_devices();
  void add(const ::sycl::context& context, const ::sycl::device& device);
  int number_of(const ::sycl::context& context, ::sycl::device device) const;

  static constexpr int capacity = 128;
  std::mutex mutex_;
  std::atomic<bool> started_{false};
  std::atomic<int> count_{0};
  std::atomic<bool> several_{false};
  std::atomic<bool> cpu_{false};
  const place* entries_[capacity] = {};  // written once, before count_ grows
};

}  // namespace telpher::device::sycl
