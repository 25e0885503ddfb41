// SPDX-License-Identifier: BSD-3-Clause
// CUDA for gpurt::backend. Work and memory use the runtime API, linked statically; the current
// context and whatever runs at every message use the driver API. The plug-in has its own copy of
// the runtime, so its sticky error is not the program's. Both share the devices' primary contexts.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/status.hpp"
#include "device/types.hpp"
#include "kernel/gpu.hpp"

namespace telpher::device::cuda {

/// Opens the driver's library and finds its functions; does not initialise the driver. False if one
/// is missing.
bool load_driver(const char*& why) noexcept;

struct cuda_rt {
  using error_type = cudaError_t;
  using stream_type = cudaStream_t;
  using event_type = cudaEvent_t;
  struct saved_type {
    CUcontext context;
    CUstreamCaptureMode mode;
    bool changed;
  };

  static constexpr vendor owner = vendor::cuda;
  static constexpr const char* name = "cuda";
  static constexpr error_type success = cudaSuccess;
  static constexpr vendor_libraries libraries{"libnccl.so.2", true, "libcufile.so.0"};

  static status to_status(error_type e) noexcept;
  static const char* error_text(error_type e) noexcept { return cudaGetErrorString(e); }
  // Events are queried through the driver; the runtime does not record the driver's answers as
  // errors.
  static void clear_error(error_type e) noexcept {
    if (e != cudaErrorNotReady) static_cast<void>(cudaGetLastError());
  }

  static bool started() noexcept;
  static int device_count() noexcept;
  static int current_device() noexcept;
  static error_type enter(int device, saved_type& saved) noexcept;
  static void leave(const saved_type& saved) noexcept;
  static error_type properties(int device, device_properties& out) noexcept;
  static bool peer_access(int device, int peer) noexcept;
  static distance distance_between(int device, int peer) noexcept;
  static bool delivers_lines(int device) noexcept;

  static error_type classify(const void* address, bool detail, pointer_info& out) noexcept;
  static void settle(const pointer_info& about, bool may_wait) noexcept;
  static bool in_use(int device) noexcept;
  static bool was_reset() noexcept;
  static error_type malloc(void** address, std::size_t bytes) noexcept {
    return cudaMalloc(address, bytes);
  }
  static error_type malloc_flags(void** address, std::size_t bytes) noexcept {
    return cudaMalloc(address, bytes);
  }
  static error_type free(void* address) noexcept { return cudaFree(address); }
  static error_type malloc_pinned(void** address, std::size_t bytes) noexcept {
    return cudaHostAlloc(address, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  }
  static error_type free_pinned(void* address) noexcept { return cudaFreeHost(address); }
  static error_type malloc_managed(void** address, std::size_t bytes) noexcept {
    return cudaMallocManaged(address, bytes, cudaMemAttachGlobal);
  }
  static error_type free_managed(void* address) noexcept { return cudaFree(address); }
  static error_type register_host(void* address, std::size_t bytes) noexcept {
    return cudaHostRegister(address, bytes, cudaHostRegisterPortable | cudaHostRegisterMapped);
  }
  static error_type unregister_host(void* address) noexcept { return cudaHostUnregister(address); }
  static error_type before_waits(int device) noexcept;
  static error_type ipc_get(ipc_handle& out, void* address) noexcept;
  static error_type ipc_open(void** address, const ipc_handle& handle) noexcept;
  static error_type ipc_close(void* address) noexcept { return cudaIpcCloseMemHandle(address); }
  static error_type descriptor_get(int* file, const pointer_info& info) noexcept;
  static error_type descriptors_open(void** address, int device, std::span<const int> files,
                                     chunk_sizes bytes) noexcept;
  static error_type descriptors_close(void* address, chunk_sizes bytes) noexcept;
  static status map_for_cpu(const pointer_info& info, void** window) noexcept;
  static void unmap_for_cpu(const pointer_info& info, void* window) noexcept;
  static bool windows_write_combined(int) noexcept { return true; }
  static void order_windows(int) noexcept {}  // later work sees stores that left the CPU

  static error_type stream_create(stream_type* out) noexcept;
  static error_type program_stream_create(stream_type* out) noexcept;
  static void* library_stream(stream_type s) noexcept { return s; }
  static error_type stream_destroy(stream_type s) noexcept { return cudaStreamDestroy(s); }
  static error_type stream_synchronise(stream_type s) noexcept { return cudaStreamSynchronize(s); }
  static error_type event_create(event_type* out) noexcept {
    return cudaEventCreateWithFlags(out, cudaEventDisableTiming);
  }
  static error_type event_destroy(event_type e) noexcept { return cudaEventDestroy(e); }
  static error_type event_record(event_type e, stream_type s) noexcept {
    return cudaEventRecord(e, s);
  }
  static error_type event_query(event_type e) noexcept;
  static error_type copy(void* to, const void* from, std::size_t bytes, stream_type s) noexcept {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s);
  }
  static error_type copy_by_engine(void* to, const void* from, std::size_t bytes,
                                   stream_type s) noexcept {
    return copy(to, from, bytes, s);  // CUDA has no way to choose the copy engine
  }
  static error_type fill(void* to, int byte, std::size_t bytes, stream_type s) noexcept {
    return cudaMemsetAsync(to, byte, bytes, s);
  }
  static error_type launch(kernel::id k, const void* parameters, int blocks, int threads,
                           stream_type s) noexcept {
    return static_cast<error_type>(kernel::gpu_launch(k, parameters, blocks, threads, s));
  }

  static error_type adopt(void* native, stream_type& s, int& device) noexcept;
  static bool one_for_each_thread(const void* native) noexcept {
    return native == cudaStreamPerThread;
  }
  static bool is_captured(stream_type s) noexcept;
  static bool streams_wait(int device) noexcept;
  static error_type wait_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept;
  static error_type write_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept;
  static error_type write_and_wait(stream_type s, std::uint32_t* written, std::uint32_t* awaited,
                                   std::uint32_t value) noexcept;
  static bool graphs_hold_words() noexcept { return true; }
  static error_type keep_for_graph(stream_type s, void* object, void (*release)(void*)) noexcept;
  static error_type synchronise_device() noexcept { return cudaDeviceSynchronize(); }
  static error_type synchronise_default() noexcept;
};

}  // namespace telpher::device::cuda
