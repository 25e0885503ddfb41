// SPDX-License-Identifier: BSD-3-Clause
// HIP (versions 5, 6 and 7) for gpurt::backend. The program and the plug-in share one libamdhip64,
// so the error of a failed call also appears in the program's thread. Therefore no call that runs
// at every message may fail. This is why pointers are looked up with hipDrvPointerGetAttributes.
#pragma once

#include "device/hip/platform.hpp"
#include "kernel/gpu.hpp"

namespace telpher::device::hip {

struct hip_rt {
  using error_type = hipError_t;
  using stream_type = hipStream_t;
  using event_type = hipEvent_t;
  struct saved_type {
    int device;
    hipStreamCaptureMode mode;
  };

  static constexpr vendor owner = vendor::hip;
  static constexpr const char* name = "hip";
  static constexpr error_type success = hipSuccess;
  static constexpr vendor_libraries libraries{.collectives = "librccl.so.1"};

  static status to_status(error_type e) noexcept;
  static const char* error_text(error_type e) noexcept { return hipGetErrorString(e); }
  // The last error may be the program's own; ROCm 7 keeps it until somebody reads it. So
  // hipErrorNotReady, which is not a failure, clears only itself.
  static void clear_error(error_type e) noexcept {
    if (e != hipErrorNotReady || hipPeekAtLastError() == e) static_cast<void>(hipGetLastError());
  }

  static bool started() noexcept;
  static int device_count() noexcept;
  static int current_device() noexcept;
  static error_type enter(int device, saved_type& saved) noexcept;
  static void leave(const saved_type& saved) noexcept;
  static error_type properties(int device, device_properties& out) noexcept;
  static bool peer_access(int device, int peer) noexcept;
  static distance distance_between(int device, int peer) noexcept;

  static error_type classify(const void* address, bool detail, pointer_info& out) noexcept;
  static error_type malloc(void** address, std::size_t bytes) noexcept {
    return hipMalloc(address, bytes);
  }
  static error_type malloc_flags(void** address, std::size_t bytes) noexcept {
    return platform::malloc_flags(address, bytes);
  }
  static error_type free(void* address) noexcept { return hipFree(address); }
  static error_type malloc_pinned(void** address, std::size_t bytes) noexcept {
    // Coherent, because it holds flags for kernels and the CPU, and ROCm's default can be changed.
    return hipHostMalloc(address, bytes,
                         hipHostMallocPortable | hipHostMallocMapped | hipHostMallocCoherent);
  }
  static error_type free_pinned(void* address) noexcept { return hipHostFree(address); }
  static error_type malloc_managed(void** address, std::size_t bytes) noexcept {
    return hipMallocManaged(address, bytes, hipMemAttachGlobal);
  }
  static error_type free_managed(void* address) noexcept { return hipFree(address); }
  static error_type register_host(void* address, std::size_t bytes) noexcept;
  static error_type unregister_host(void* address) noexcept { return hipHostUnregister(address); }
  static error_type ipc_get(ipc_handle& out, void* address) noexcept;
  static error_type ipc_open(void** address, const ipc_handle& handle) noexcept;
  static error_type ipc_close(void* address) noexcept { return hipIpcCloseMemHandle(address); }
  static status map_for_cpu(const pointer_info& info, void** window) noexcept {
    return platform::map_for_cpu(info, window);
  }
  static void unmap_for_cpu(const pointer_info&, void* window) noexcept {
    platform::unmap_for_cpu(window);
  }
  static bool windows_write_combined(int device) noexcept {
    return platform::windows_write_combined(device);
  }
  static void order_windows(int device) noexcept { platform::order_windows(device); }

  static error_type stream_create(stream_type* out) noexcept;
  static error_type program_stream_create(stream_type* out) noexcept;
  static void* library_stream(stream_type s) noexcept { return s; }
  static error_type stream_destroy(stream_type s) noexcept { return hipStreamDestroy(s); }
  static error_type stream_synchronise(stream_type s) noexcept { return hipStreamSynchronize(s); }
  static error_type event_create(event_type* out) noexcept {
    return hipEventCreateWithFlags(out, hipEventDisableTiming);
  }
  static error_type event_destroy(event_type e) noexcept { return hipEventDestroy(e); }
  static error_type event_record(event_type e, stream_type s) noexcept {
    return hipEventRecord(e, s);
  }
  static error_type event_query(event_type e) noexcept;
  static error_type copy(void* to, const void* from, std::size_t bytes, stream_type s) noexcept {
    return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s);
  }
  static error_type copy_by_engine(void* to, const void* from, std::size_t bytes,
                                   stream_type s) noexcept {
    return platform::copy_by_engine(to, from, bytes, s);
  }
  static error_type fill(void* to, int byte, std::size_t bytes, stream_type s) noexcept {
    return hipMemsetAsync(to, byte, bytes, s);
  }
  static error_type launch(kernel::id k, const void* parameters, int blocks, int threads,
                           stream_type s) noexcept {
    return static_cast<error_type>(kernel::gpu_launch(k, parameters, blocks, threads, s));
  }

  static error_type adopt(void* native, stream_type& s, int& device) noexcept;
  static bool one_for_each_thread(const void* native) noexcept {
    return native == hipStreamPerThread;
  }
  static bool is_captured(stream_type s) noexcept;
  static bool streams_wait(int device) noexcept { return platform::streams_wait(device); }
  static error_type wait_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
    return hipStreamWaitValue32(s, word, value, hipStreamWaitValueGte);
  }
  static error_type write_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
    return hipStreamWriteValue32(s, word, value, 0);
  }
  static bool graphs_hold_words() noexcept { return false; }  // captures refuse waits for memory
  static error_type keep_for_graph(stream_type s, void* object, void (*release)(void*)) noexcept;
  static error_type synchronise_device() noexcept { return hipDeviceSynchronize(); }
  static error_type synchronise_default() noexcept;
};

}  // namespace telpher::device::hip
