// SPDX-License-Identifier: BSD-3-Clause
#include "device/sycl/queue.hpp"

#include <sycl/sycl.hpp>

#include <algorithm>
#include <cstring>
#include <new>

#include "device/sycl/guarded.hpp"
#include "device/sycl/kernels.hpp"
#include "device/sycl/word_waits.hpp"

namespace telpher::device::sycl {
namespace {

constexpr std::size_t most_slots = 8;

// SYCL reports failures of asynchronous work here when somebody waits for it.
void report(const ::sycl::exception_list& errors) {
  for (const std::exception_ptr& e : errors) {
    const status s = guarded("work in a queue", [&]() -> status { std::rethrow_exception(e); });
    static_cast<void>(s);
  }
}

}  // namespace

bool is_done(const ::sycl::event& e) {
  return e.get_info<::sycl::info::event::command_execution_status>() ==
         ::sycl::info::event_command_status::complete;
}

work_queue::work_queue(int device)
    : device_(device),
      where_(places::instance().at(device)),
      queue_(where_.context, where_.device, report,
             ::sycl::property_list{::sycl::property::queue::in_order{}}) {}

work_queue::work_queue(int device, const ::sycl::queue& of_program)
    : device_(device),
      of_program_(true),
      where_(places::instance().at(device)),
      queue_(of_program) {}

work_queue::~work_queue() {
  const status s = guarded("queue destruction", [&] {
    if (!slots_.empty()) queue_.wait();  // kernels read their parameters from the slots
    for (const parameter_slot& p : slots_) {
      ::sycl::free(p.host, where_.context);
      if (p.device != p.host) ::sycl::free(p.device, where_.context);
    }
    return status::ok;
  });
  static_cast<void>(s);
}

void work_queue::copy(void* to, const void* from, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  last_ = queue_.memcpy(to, from, bytes);
}

void work_queue::fill(void* to, int byte, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  last_ = queue_.memset(to, byte, bytes);
}

work_queue::parameter_slot& work_queue::free_slot() {
  const bool reusable = !slots_.empty() && (!slots_.front().user || is_done(*slots_.front().user));
  if (!reusable && slots_.size() < most_slots) {
    parameter_slot p;
    p.host = ::sycl::malloc_host(kernel::parameter_capacity, where_.context);
    p.device = where_.device.is_cpu() ? p.host
                                      : ::sycl::malloc_device(kernel::parameter_capacity,
                                                              where_.device, where_.context);
    if (!p.host || !p.device) throw std::bad_alloc();
    slots_.push_back(p);
    return slots_.back();
  }
  if (!reusable) slots_.front().user->wait();
  slots_.splice(slots_.end(), slots_, slots_.begin());
  return slots_.back();
}

status work_queue::launch(kernel::id k, const void* parameters, int blocks, int threads) {
  const ::sycl::kernel* code = kernel_of(where_, k);
  if (!code) return status::not_supported;
  // Kernel bodies accept any block size, and a device may allow fewer work items than requested.
  const auto most =
      code->get_info<::sycl::info::kernel_device_specific::work_group_size>(where_.device);
  const auto local = std::min(static_cast<std::size_t>(threads), most);
  std::lock_guard lock(mutex_);
  parameter_slot& slot = free_slot();
  std::memcpy(slot.host, parameters, parameter_bytes(k));
  if (slot.device != slot.host) queue_.memcpy(slot.device, slot.host, parameter_bytes(k));
  last_ = queue_.submit([&](::sycl::handler& h) {
    h.set_arg(0, slot.device);
    h.parallel_for(::sycl::nd_range<1>(static_cast<std::size_t>(blocks) * local, local), *code);
  });
  slot.user = last_;
  return status::ok;
}

void work_queue::write(std::uint32_t* word, std::uint32_t value) {
  std::lock_guard lock(mutex_);
  last_ = queue_.fill(word, value, 1);
}

void work_queue::wait_for(std::uint32_t* word, std::uint32_t value) {
  std::lock_guard lock(mutex_);
  last_ = word_waits::instance().add(where_, queue_, word, value);
}

void work_queue::wait() {
  // Without the lock: other threads may submit work meanwhile.
  if (const auto e = last()) ::sycl::event(*e).wait_and_throw();
}

std::optional<::sycl::event> work_queue::last() {
  std::lock_guard lock(mutex_);
  return of_program_ ? queue_.ext_oneapi_submit_barrier() : last_;
}

}  // namespace telpher::device::sycl
