// SPDX-License-Identifier: BSD-3-Clause
// device::backend over SYCL 2020 with DPC++'s extensions. SYCL has no current device, so there is
// nothing to restore. guarded() catches what the runtime throws.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "device/device.hpp"
#include "device/gpurt/guard.hpp"
#include "device/sycl/places.hpp"

namespace telpher::device::sycl {

class backend final : public device::backend {
 public:
  backend() noexcept { gpurt::process_exit::watch(); }

  vendor owner() const noexcept override { return vendor::sycl; }
  const char* name() const noexcept override { return "sycl"; }
  int device_count() noexcept override;
  status properties(int device, device_properties& out) noexcept override;
  bool peer_access(int device, int peer) noexcept override;
  distance distance_between(int device, int peer) noexcept override;

  bool started() noexcept override;
  status classify(const void* address, bool detail, pointer_info& out) noexcept override;
  status adopt_queue(const void* queue) noexcept override;
  bool allocates_from_heap() noexcept override { return places::instance().has_cpu(); }

  result<void*> allocate(int device, std::size_t bytes) noexcept override;
  status release(int device, void* address) noexcept override;
  result<void*> allocate_pinned(std::size_t bytes) noexcept override;
  status release_pinned(void* address) noexcept override;
  status register_host(void* address, std::size_t bytes) noexcept override;
  status unregister_host(void* address) noexcept override;
  bool shares_host_memory(int device) noexcept override;
  result<void*> allocate_managed(std::size_t bytes) noexcept override;
  status release_managed(void* address) noexcept override;

  result<stream> create_stream(int device) noexcept override;
  void destroy_stream(stream s) noexcept override;
  result<event> create_event(int device) noexcept override;
  void destroy_event(event e) noexcept override;
  status record(event e, stream s) noexcept override;
  status query(event e) noexcept override;
  status synchronise(stream s) noexcept override;
  status copy(void* to, const void* from, std::size_t bytes, stream s) noexcept override;
  status fill(void* to, int byte, std::size_t bytes, stream s) noexcept override;
  status launch(kernel::id k, const void* parameters, int blocks, int threads,
                stream s) noexcept override;
  status prepare(int device, kernel::id k) noexcept override;
  bool blocks_run_together(int) noexcept override { return false; }
  bool kernels_may_wait(int) noexcept override { return false; }  // SYCL promises no progress

  /// `native` is a pointer to a sycl::queue, in order and in the context in which we allocate.
  result<stream> adopt_stream(void* native, int& device) noexcept override;
  void disown_stream(stream s) noexcept override { destroy_stream(s); }
  result<stream> create_program_stream(int device) noexcept override;
  void* native_stream(stream s) noexcept override;
  bool is_captured(stream s) noexcept override;
  bool streams_wait(int device) noexcept override;
  status wait_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept override;
  status write_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept override;
  status write_and_wait(stream s, std::uint32_t* written, std::uint32_t* awaited,
                        std::uint32_t value) noexcept override;
  // SYCL has no default queue, and nothing that waits for all queues of a device.
  status synchronise_default(int) noexcept override { return status::ok; }

  result<ipc_handle> ipc_export(const pointer_info& info) noexcept override;
  result<void*> ipc_open(int device, const ipc_handle& handle) noexcept override;
  status ipc_close(int device, void* base) noexcept override;

  // SYCL offers no CPU window into device memory.
  result<void*> map_for_cpu(const pointer_info&) noexcept override { return status::not_supported; }
  void unmap_for_cpu(const pointer_info&, void*) noexcept override {}

 private:
  bool valid(int device) noexcept;
  bool registered(std::uintptr_t address, pointer_info& out) noexcept;
  std::uint64_t generation_of(std::uintptr_t base) noexcept;
  result<void*> obtained(void* address, std::uintptr_t bytes) noexcept;
  status give_back(int device, void* address) noexcept;

  std::mutex mutex_;
  // Generations of memory that was allocated here, if the driver has no ids; base → generation.
  std::map<std::uintptr_t, std::uint64_t> generations_;
  std::uint64_t next_generation_ = 1;
  struct range {
    std::uintptr_t last;  // one past
    int device;
  };
  std::map<std::uintptr_t, range> registered_;  // first address → range
  std::atomic<std::size_t> registrations_{0};
};

}  // namespace telpher::device::sycl
