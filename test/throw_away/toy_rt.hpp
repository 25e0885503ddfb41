// SPDX-License-Identifier: BSD-3-Clause
// A throw-away back end, written by following docs/understand/adding-a-back-end.md: one device
// whose memory is ordinary memory under another name, with streams that are threads. It can do
// what every back end must, and nothing else: no handles for other processes, no windows, no peers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/status.hpp"
#include "device/types.hpp"
#include "kernel/kernel.hpp"

namespace toy {

using namespace telpher;

enum class error { success, not_ready, invalid, out_of_memory, not_supported };

/// Work in order, on a thread of its own, which ends when the queue is gone and its work is done.
class queue {
 public:
  queue();
  ~queue();
  queue(const queue&) = delete;
  queue& operator=(const queue&) = delete;
  void push(std::function<void()> work);
  void drain();

 private:
  struct state {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> waiting;
    bool busy = false, leaving = false;
  };
  static void run(const std::shared_ptr<state>& s);
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

/// How often it was recorded, and the last of these that was reached.
struct mark {
  std::atomic<std::uint64_t> recorded{0}, reached{0};
};

struct toy_rt {
  using error_type = error;
  using stream_type = std::shared_ptr<queue>;
  using event_type = std::shared_ptr<mark>;
  using saved_type = int;

  static constexpr auto owner = static_cast<device::vendor>(device::first_outside_vendor);
  static constexpr const char* name = "toy";
  static constexpr error success = error::success;

  static status to_status(error e) noexcept;
  static const char* error_text(error e) noexcept;
  static void clear_error(error_type) noexcept {}

  static bool started() noexcept;
  static int device_count() noexcept { return 1; }
  static int current_device() noexcept { return 0; }
  static error enter(int, int&) noexcept { return error::success; }
  static void leave(int) noexcept {}
  static error properties(int device, device::device_properties& out) noexcept;
  static bool peer_access(int, int) noexcept { return false; }
  static device::distance distance_between(int, int) noexcept {
    return device::distance::unreachable;
  }

  static error classify(const void* address, bool detail, device::pointer_info& out) noexcept;
  static error malloc(void** address, std::size_t bytes) noexcept;
  static error malloc_flags(void** address, std::size_t bytes) noexcept {
    return malloc(address, bytes);
  }
  static error free(void* address) noexcept;
  static error malloc_pinned(void** address, std::size_t bytes) noexcept;
  static error free_pinned(void* address) noexcept { return free(address); }
  static error malloc_managed(void** address, std::size_t bytes) noexcept;
  static error free_managed(void* address) noexcept { return free(address); }
  static error register_host(void*, std::size_t) noexcept { return error::not_supported; }
  static error unregister_host(void*) noexcept { return error::not_supported; }
  static error ipc_get(device::ipc_handle&, void*) noexcept { return error::not_supported; }
  static error ipc_open(void**, const device::ipc_handle&) noexcept { return error::not_supported; }
  static error ipc_close(void*) noexcept { return error::not_supported; }
  static status map_for_cpu(const device::pointer_info&, void**) noexcept {
    return status::not_supported;
  }
  static void unmap_for_cpu(const device::pointer_info&, void*) noexcept {}
  static bool windows_write_combined(int) noexcept { return false; }
  static void order_windows(int) noexcept {}

  static error stream_create(stream_type* out) noexcept;
  static error program_stream_create(stream_type* out) noexcept { return stream_create(out); }
  static error stream_destroy(const stream_type&) noexcept { return error::success; }
  static error stream_synchronise(const stream_type& s) noexcept;
  static error event_create(event_type* out) noexcept;
  static error event_destroy(const event_type&) noexcept { return error::success; }
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

  static error adopt(void*, stream_type&, int&) noexcept { return error::not_supported; }
  static bool one_for_each_thread(const void*) noexcept { return false; }
  static bool is_captured(const stream_type&) noexcept { return false; }
  static bool streams_wait(int) noexcept { return false; }
  static error wait_value(const stream_type&, std::uint32_t*, std::uint32_t) noexcept {
    return error::not_supported;
  }
  static error write_value(const stream_type&, std::uint32_t*, std::uint32_t) noexcept {
    return error::not_supported;
  }
  static bool graphs_hold_words() noexcept { return true; }
  static error synchronise_device() noexcept { return error::not_supported; }
  static error synchronise_default() noexcept { return error::not_supported; }
};

}  // namespace toy
