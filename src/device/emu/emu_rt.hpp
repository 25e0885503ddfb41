// SPDX-License-Identifier: BSD-3-Clause
// The emulated device as a runtime of CUDA's shape. Each call is checked and counted, may be made
// to fail by an injected fault, and is passed on to the arena (memory), to streams.hpp or to
// the CPU kernels.
#pragma once

#include <memory>

#include "base/status.hpp"
#include "device/emu/streams.hpp"
#include "device/emu/errors.hpp"
#include "device/emu/topology.hpp"
#include "device/types.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device::emu {

struct emu_rt {
  using error_type = error;
  using stream_type = std::shared_ptr<stream_state>;
  using event_type = std::shared_ptr<event_state>;
  using saved_type = int;

  static constexpr vendor owner = vendor::emu;
  static constexpr const char* name = "emu";
  static constexpr error success = error::success;
  static constexpr vendor_libraries libraries{.files = "libemulated-gds.so"};  // of test/gds
  static constexpr bool blocks_run_together = false;  // they run one after the other
  static constexpr bool shares_host_memory = true;    // its kernels are functions of this process

  static status to_status(error e) noexcept;
  static const char* error_text(error e) noexcept { return text_of(e); }
  static void clear_error(error_type) noexcept {}

  static bool started() noexcept;
  static int device_count() noexcept;
  static int current_device() noexcept;
  static error enter(int device, int& saved) noexcept;
  static void leave(int saved) noexcept;
  static error properties(int device, device_properties& out) noexcept;
  static bool peer_access(int device, int peer) noexcept;
  static distance distance_between(int device, int peer) noexcept;

  static error classify(const void* address, bool detail, pointer_info& out) noexcept;
  static error malloc(void** address, std::size_t bytes) noexcept;
  static error malloc_flags(void** address, std::size_t bytes) noexcept {
    return malloc(address, bytes);
  }
  static error free(void* address) noexcept;
  static error malloc_pinned(void** address, std::size_t bytes) noexcept;
  static error free_pinned(void* address) noexcept;
  static error malloc_managed(void** address, std::size_t bytes) noexcept;
  static error free_managed(void* address) noexcept;
  static error register_host(void* address, std::size_t bytes) noexcept;
  static error unregister_host(void* address) noexcept;
  static error ipc_get(ipc_handle& out, void* address) noexcept;
  static error ipc_open(void** address, const ipc_handle& handle) noexcept;
  static error ipc_close(void* address) noexcept;
  static error descriptor_get(int* file, const pointer_info& info) noexcept;
  static error descriptors_open(void** address, int device, std::span<const int> files,
                                chunk_sizes bytes) noexcept;
  static error descriptors_close(void* address, chunk_sizes bytes) noexcept;
  static status map_for_cpu(const pointer_info& info, void** window) noexcept;
  static void unmap_for_cpu(const pointer_info&, void*) noexcept {}
  static void* kernel_address(void* address) noexcept;
  static bool windows_write_combined(int device) noexcept;
  static void order_windows(int) noexcept {}

  static error stream_create(stream_type* out) noexcept;
  static error program_stream_create(stream_type* out) noexcept;
  static void* library_stream(const stream_type& s) noexcept {
    return static_cast<emu::library_stream*>(s.get());
  }
  static error stream_destroy(const stream_type& s) noexcept;
  static error stream_synchronise(const stream_type& s) noexcept;
  static error event_create(event_type* out) noexcept;
  static error event_destroy(const event_type& e) noexcept;
  static error event_record(const event_type& e, const stream_type& s) noexcept;
  static error event_query(const event_type& e) noexcept;
  static error copy(void* to, const void* from, std::size_t bytes, const stream_type& s) noexcept;
  static error copy_by_engine(void* to, const void* from, std::size_t bytes,
                              const stream_type& s) noexcept {
    return copy(to, from, bytes, s);
  }
  static error fill(void* to, int byte, std::size_t bytes, const stream_type& s) noexcept;
  static error launch(kernel::id k, const void* parameters, int blocks, int threads,
                      const stream_type& s) noexcept;
  static error launch_function(block_function run, const void* parameters, std::size_t bytes,
                               unsigned blocks, const stream_type& s) noexcept;

  // The handle is a library_stream. As in CUDA, null is the legacy default stream, and 2 the
  // calling thread's own.
  static error adopt(void* native, stream_type& s, int& device) noexcept;
  static bool one_for_each_thread(const void* native) noexcept;
  static bool is_captured(const stream_type& s) noexcept { return s->captured() != nullptr; }
  static bool graphs_hold_words() noexcept { return topology::instance().graphs_hold_words; }
  static error keep_for_graph(const stream_type& s, void* object, void (*release)(void*)) noexcept;
  static bool streams_wait(int) noexcept { return true; }
  static error wait_value(const stream_type& s, std::uint32_t* word, std::uint32_t value) noexcept;
  static error write_value(const stream_type& s, std::uint32_t* word, std::uint32_t value) noexcept;
  static error synchronise_device() noexcept;
  static error synchronise_default() noexcept;
};

}  // namespace telpher::device::emu
