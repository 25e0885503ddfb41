// SPDX-License-Identifier: BSD-3-Clause
// device::backend for every runtime of CUDA's shape. R (gpurt/runtime.hpp) holds what differs
// between vendors. This class keeps the rules of device.hpp that are common to all: the device
// guard, one log line per failed call, clearing the sticky error, and doing nothing after process
// exit.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>

#include "base/settings.hpp"
#include "device/device.hpp"
#include "device/gpurt/contexts.hpp"
#include "kernel/one_copy.hpp"

namespace telpher::device::gpurt {

template <gpu_runtime R>
class backend final : public contexts<R> {
 public:
  backend() noexcept { process_exit::watch(); }

  // --- identity ---
  vendor owner() const noexcept override { return R::owner; }
  const char* name() const noexcept override { return R::name; }
  int device_count() noexcept override { return process_exit::begun() ? 0 : R::device_count(); }

  status properties(int device, device_properties& out) noexcept override {
    if (!valid(device)) return status::invalid_argument;
    return check<R>(R::properties(device, out), "properties");
  }
  bool peer_access(int device, int peer) noexcept override {
    return valid(device) && valid(peer) && (device == peer || R::peer_access(device, peer));
  }
  distance distance_between(int device, int peer) noexcept override {
    if (!valid(device) || !valid(peer)) return distance::unreachable;
    return device == peer ? distance::same : R::distance_between(device, peer);
  }
  bool delivers_lines(int device, int peer) noexcept override {
    if constexpr (requires { R::delivers_lines(device); }) {
      const distance d = distance_between(device, peer);
      return (d == distance::same || d == distance::fabric) && R::delivers_lines(device);
    }
    return false;
  }

  // --- the program's memory ---
  bool started() noexcept override { return !process_exit::begun() && R::started(); }

  status classify(const void* address, bool detail, pointer_info& out) noexcept override {
    out = {};
    if (!started()) return status::ok;
    TELPHER_TRY(check<R>(R::classify(address, detail, out), "pointer attributes"));
    if (out.is_chunk && !config().ipc_descriptors) out.exportable = false;
    if (out.kind == memory_kind::device && home_.load(std::memory_order_relaxed) < 0) [[unlikely]]
      home_.store(out.device, std::memory_order_relaxed);
    return status::ok;
  }

  // --- our memory ---
  result<void*> allocate(int device, std::size_t bytes) noexcept override {
    return make(device, &R::malloc, bytes, "malloc");
  }
  result<void*> allocate_flags(int device, std::size_t bytes) noexcept override {
    return make(device, &R::malloc_flags, bytes, "malloc of flags");
  }
  status release(int device, void* address) noexcept override {
    return on(
        device, [&] { return R::free(address); }, "free");
  }
  result<void*> allocate_pinned(std::size_t bytes) noexcept override {
    return make(any_device(), &R::malloc_pinned, bytes, "pinned malloc");
  }
  status release_pinned(void* address) noexcept override {
    return on(
        any_device(), [&] { return R::free_pinned(address); }, "pinned free");
  }
  status register_host(void* address, std::size_t bytes) noexcept override {
    return on(
        any_device(), [&] { return R::register_host(address, bytes); }, "host register");
  }
  status unregister_host(void* address) noexcept override {
    return on(
        any_device(), [&] { return R::unregister_host(address); }, "host unregister");
  }
  bool blocks_run_together(int) noexcept override {
    if constexpr (requires { R::blocks_run_together; }) return R::blocks_run_together;
    return true;
  }
  bool shares_host_memory(int) noexcept override {
    if constexpr (requires { R::shares_host_memory; }) return R::shares_host_memory;
    return false;
  }
  result<void*> allocate_managed(std::size_t bytes) noexcept override {
    return make(any_device(), &R::malloc_managed, bytes, "managed malloc");
  }
  status release_managed(void* address) noexcept override {
    return on(
        any_device(), [&] { return R::free_managed(address); }, "managed free");
  }

  // --- work ---
  result<stream> create_stream(int device) noexcept override {
    return make_stream(device, &R::stream_create);
  }
  result<stream> create_program_stream(int device) noexcept override {
    return make_stream(device, &R::program_stream_create);
  }
  void destroy_stream(stream s) noexcept override {
    const std::unique_ptr<stream_object> object(object_of(s));
    if (!object) return;
    static_cast<void>(on(
        object->device, [&] { return R::stream_destroy(object->native); }, "stream destroy"));
  }
  result<event> create_event(int device) noexcept override {
    auto made = std::unique_ptr<event_object>(new (std::nothrow) event_object{device, {}});
    if (!made) return status::out_of_memory;
    TELPHER_TRY(on(
        device, [&] { return R::event_create(&made->native); }, "event create"));
    return event{made.release()};
  }
  void destroy_event(event e) noexcept override {
    const std::unique_ptr<event_object> object(object_of(e));
    if (!object) return;
    static_cast<void>(on(
        object->device, [&] { return R::event_destroy(object->native); }, "event destroy"));
  }
  status record(event e, stream s) noexcept override {
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::event_record(object_of(e)->native, o.native); }, "event record");
  }
  status query(event e) noexcept override {
    if (process_exit::begun()) return status::device_error;
    return check<R>(R::event_query(object_of(e)->native), "event query");
  }
  status synchronise(stream s) noexcept override {
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::stream_synchronise(o.native); }, "stream synchronise");
  }
  status copy(void* to, const void* from, std::size_t bytes, stream s) noexcept override {
    if (bytes == 0) return status::ok;
    const stream_object& o = *object_of(s);
    if (choice_ == copy_choice::engine && both_on_devices(to, from))
      return on(
          o.device, [&] { return R::copy_by_engine(to, from, bytes, o.native); }, "engine copy");
    if (choice_ == copy_choice::kernel && in_reach(o.device, to) && in_reach(o.device, from))
      return copy_by_kernel(o, to, from, bytes);
    return on(
        o.device, [&] { return R::copy(to, from, bytes, o.native); }, "copy");
  }
  status fill(void* to, int byte, std::size_t bytes, stream s) noexcept override {
    if (bytes == 0) return status::ok;
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::fill(to, byte, bytes, o.native); }, "fill");
  }
  status launch(kernel::id k, const void* parameters, int blocks, int threads,
                stream s) noexcept override {
    if (blocks < 1 || threads < 1 || threads > 1024) return status::invalid_argument;
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::launch(k, parameters, blocks, threads, o.native); }, "launch");
  }

  // --- the program's streams ---
  result<stream> adopt_stream(void* native, int& device) noexcept override {
    if (!started()) return status::invalid_argument;
    auto made = std::unique_ptr<stream_object>(new (std::nothrow) stream_object{-1, {}});
    if (!made) return status::out_of_memory;
    TELPHER_TRY(check<R>(R::adopt(native, made->native, made->device), "stream look-up"));
    device = made->device;
    return stream{made.release()};
  }
  void disown_stream(stream s) noexcept override { delete object_of(s); }
  bool one_for_each_thread(const void* native) noexcept override {
    return R::one_for_each_thread(native);
  }
  bool is_captured(stream s) noexcept override {
    // A default stream is that of the current device, which adopt_stream has found.
    return !process_exit::begun() && R::is_captured(object_of(s)->native);
  }
  bool streams_wait(int device) noexcept override {
    return valid(device) && R::streams_wait(device);
  }
  status wait_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept override {
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::wait_value(o.native, word, value); }, "stream wait");
  }
  status write_value(stream s, std::uint32_t* word, std::uint32_t value) noexcept override {
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return R::write_value(o.native, word, value); }, "stream write");
  }
  status write_and_wait(stream s, std::uint32_t* written, std::uint32_t* awaited,
                        std::uint32_t value) noexcept override {
    const stream_object& o = *object_of(s);
    return on(
        o.device, [&] { return write_and_wait(o.native, written, awaited, value); },
        "stream write and wait");
  }
  bool graphs_hold_words() noexcept override { return R::graphs_hold_words(); }
  status keep_for_graph(stream s, void* object, void (*let_go)(void*)) noexcept override {
    if constexpr (requires { R::keep_for_graph(object_of(s)->native, object, let_go); }) {
      const stream_object& o = *object_of(s);
      return on(
          o.device, [&] { return R::keep_for_graph(o.native, object, let_go); }, "graph retain");
    }
    return status::not_supported;
  }
  status synchronise_device(int device) noexcept override {
    return on(
        device, [] { return R::synchronise_device(); }, "device synchronise");
  }
  status synchronise_default(int device) noexcept override {
    return on(
        device, [] { return R::synchronise_default(); }, "default stream synchronise");
  }

  // --- the vendor's own libraries ---
  vendor_libraries libraries() noexcept override {
    if constexpr (requires { R::libraries; }) return R::libraries;
    return {};
  }
  void* native_stream(stream s) noexcept override {
    if constexpr (requires { R::library_stream(object_of(s)->native); })
      return R::library_stream(object_of(s)->native);
    return nullptr;
  }
  void before_waits(int device) noexcept override {
    if constexpr (requires { R::before_waits(device); })
      static_cast<void>(on(
          device, [&] { return R::before_waits(device); }, "context flags"));
  }
  status call_with(int device, void (*work)(void*), void* argument) noexcept override {
    if (process_exit::begun()) return status::device_error;
    return on(
        device, [&] { return work(argument), R::success; }, "library call");
  }

  // --- other processes' memory ---
  result<ipc_handle> ipc_export(const pointer_info& info) noexcept override {
    if (info.kind != memory_kind::device || info.owner != R::owner || !info.exportable ||
        info.is_chunk)
      return status::not_supported;
    ipc_handle handle{};
    const auto base = reinterpret_cast<void*>(info.base);
    TELPHER_TRY(on(
        info.device, [&] { return R::ipc_get(handle, base); }, "ipc export"));
    return handle;
  }
  result<void*> ipc_open(int device, const ipc_handle& handle) noexcept override {
    void* base = nullptr;
    TELPHER_TRY(on(
        device, [&] { return R::ipc_open(&base, handle); }, "ipc open"));
    if (choice_ == copy_choice::kernel) opened_.insert(base);
    return base;
  }
  status ipc_close(int device, void* base) noexcept override {
    if (choice_ == copy_choice::kernel) opened_.erase(base);
    return on(
        device, [&] { return R::ipc_close(base); }, "ipc close");
  }

  // --- the CPU's view of device memory ---
  result<void*> map_for_cpu(const pointer_info& info) noexcept override {
    if (info.kind != memory_kind::device || process_exit::begun()) return status::not_supported;
    void* window = nullptr;
    TELPHER_TRY(R::map_for_cpu(info, &window));
    return window;
  }
  void unmap_for_cpu(const pointer_info& info, void* window) noexcept override {
    if (!process_exit::begun()) R::unmap_for_cpu(info, window);
  }
  status launch_function(block_function run, const void* parameters, std::size_t bytes,
                         unsigned blocks, stream s) noexcept override {
    if constexpr (requires { R::launch_function(run, parameters, bytes, blocks, {}); }) {
      if (!run || blocks < 1 || bytes > kernel::parameter_capacity) return status::invalid_argument;
      const stream_object& o = *object_of(s);
      return on(
          o.device, [&] { return R::launch_function(run, parameters, bytes, blocks, o.native); },
          "launch");
    }
    return status::not_supported;
  }
  void* kernel_address(void* address) noexcept override {
    if constexpr (requires { R::kernel_address(address); }) return R::kernel_address(address);
    return address;
  }
  bool windows_write_combined(int device) noexcept override {
    return valid(device) && R::windows_write_combined(device);
  }
  void order_windows(int device) noexcept override {
    if (valid(device)) R::order_windows(device);
  }

 private:
  struct stream_object {
    int device;
    typename R::stream_type native;
  };
  struct event_object {
    int device;
    typename R::event_type native;
  };
  static stream_object* object_of(stream s) noexcept {
    return static_cast<stream_object*>(s.handle);
  }
  static event_object* object_of(event e) noexcept { return static_cast<event_object*>(e.handle); }

  bool valid(int device) noexcept { return device >= 0 && device < device_count(); }

  /// A device for calls that need any device: the one for which we last made a stream or memory, or
  /// whose memory we saw first. Another device may have no context yet. Before that, it is the
  /// thread's current device.
  int any_device() noexcept {
    const int home = home_.load(std::memory_order_relaxed);
    return home >= 0 || process_exit::begun() ? home : std::max(R::current_device(), 0);
  }

  // --- copies that Telpher does not leave to the driver ---
  enum class copy_choice { driver, engine, kernel };
  static copy_choice configured_choice() noexcept {
    const auto wanted = config().device_copy;
    return wanted == "engine"   ? copy_choice::engine
           : wanted == "kernel" ? copy_choice::kernel
                                : copy_choice::driver;
  }
  bool both_on_devices(const void* to, const void* from) noexcept {
    pointer_info a, b;
    return classify(to, false, a) == status::ok && a.kind == memory_kind::device &&
           classify(from, false, b) == status::ok && b.kind == memory_kind::device;
  }
  // Whether a kernel of a device may access an address: its own memory, pinned memory, and memory
  // opened for it; not memory of another device of this process.
  bool in_reach(int device, const void* address) noexcept {
    pointer_info info;
    if (failed(classify(address, true, info))) return false;
    if (info.kind == memory_kind::pinned) return true;
    return info.kind == memory_kind::device &&
           (info.device == device || opened_.holds(reinterpret_cast<void*>(info.base)));
  }
  status copy_by_kernel(const stream_object& o, void* to, const void* from,
                        std::size_t bytes) noexcept {
    const kernel::copy_batch k = kernel::one_copy(to, from, bytes);
    return on(
        o.device,
        [&] {
          return R::launch(kernel::id::copy_batch, &k, k.count, kernel::one_copy_threads, o.native);
        },
        "copy kernel");
  }

  static typename R::error_type write_and_wait(typename R::stream_type s, std::uint32_t* written,
                                               std::uint32_t* awaited,
                                               std::uint32_t value) noexcept {
    if constexpr (requires { R::write_and_wait(s, written, awaited, value); })
      return R::write_and_wait(s, written, awaited, value);
    const auto e = R::write_value(s, written, value);
    return e == R::success ? R::wait_value(s, awaited, value) : e;
  }

  template <class F>
  status on(int device, F&& call, const char* name) noexcept {
    return call_on<R>(device, std::forward<F>(call), name);
  }

  template <class F>
  result<stream> make_stream(int device, F create) noexcept {
    auto made = std::unique_ptr<stream_object>(new (std::nothrow) stream_object{device, {}});
    if (!made) return status::out_of_memory;
    home_.store(device, std::memory_order_relaxed);
    TELPHER_TRY(on(
        device, [&] { return create(&made->native); }, "stream create"));
    return stream{made.release()};
  }

  template <class F>
  result<void*> make(int device, F function, std::size_t bytes, const char* name) noexcept {
    if (!valid(device)) return status::invalid_argument;
    void* address = nullptr;
    home_.store(device, std::memory_order_relaxed);
    TELPHER_TRY(on(
        device, [&] { return function(&address, bytes ? bytes : 1); }, name));
    return address;
  }

  std::atomic<int> home_{-1};
  const copy_choice choice_ = configured_choice();
  address_set opened_;  // kept where copies are made by kernels
};

}  // namespace telpher::device::gpurt
