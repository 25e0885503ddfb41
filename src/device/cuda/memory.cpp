// SPDX-License-Identifier: BSD-3-Clause
// Memory of the program: what an address is, and its handles for other processes and for the CPU.
#include <atomic>
#include <cstring>
#include <iterator>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "device/cuda/driver.hpp"
#include "device/cuda/gdrcopy.hpp"
#include "device/gpurt/guard.hpp"
#include "device/gpurt/managed.hpp"

namespace telpher::device::cuda {

namespace {

// The program's contexts whose copies end before they return.
std::atomic<CUcontext> synchronous[device_limit];

// The allocations that this thread looked up last. Asking for all attributes takes the driver
// several times as long as asking for the buffer id. While the id is unchanged, all attributes are
// unchanged.
struct known_allocations {
  static constexpr std::size_t capacity = 8;
  pointer_info entries[capacity];
  std::size_t next = 0;

  const pointer_info* find(std::uintptr_t address) const noexcept {
    for (const pointer_info& e : entries)
      if (address - e.base < e.bytes) return &e;
    return nullptr;
  }
  void insert(const pointer_info& info) noexcept { entries[next++ % capacity] = info; }
};
thread_local known_allocations known;

// Chunks have places by the addresses that were asked for: a message over many of them asks for
// each one's base, and must not drive out the allocations of other messages.
struct known_chunks {
  static constexpr std::size_t capacity = 64;
  pointer_info entries[capacity];

  pointer_info& at(std::uintptr_t address) noexcept {
    constexpr std::uintptr_t smallest_chunk = std::uintptr_t{2} << 20;
    return entries[address / smallest_chunk % capacity];
  }
  const pointer_info* find(std::uintptr_t address) noexcept {
    const pointer_info& e = at(address);
    return address - e.base < e.bytes ? &e : nullptr;
  }
};
thread_local known_chunks chunks_known;

bool still_there(const pointer_info& e, const void* address) noexcept {
  if (e.is_chunk) return chunk_is_there(e, reinterpret_cast<CUdeviceptr>(address));
  unsigned long long id = 0;
  return driver.cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                      reinterpret_cast<CUdeviceptr>(address)) == CUDA_SUCCESS &&
         id == e.generation;
}

// The program's cuMemcpy may return before the bytes are in device memory (when it copies from
// pageable host memory or from other device memory). Our streams and other processes could then
// still read the old bytes. CU_POINTER_ATTRIBUTE_SYNC_MEMOPS makes later cuMemcpy calls on one
// allocation synchronous. The context flag CU_CTX_SYNC_MEMOPS does this for everything copied in
// the context; it is needed for allocations of pools, mapped and managed memory, which have no such
// attribute. Copies made before are waited for here, through the default stream. That wait is
// bounded, because the default stream may hold work that itself waits for MPI.

void wait_for_default_stream() noexcept {
  constexpr double patience_us = 20e3;
  const std::uint64_t begin = now_ns();
  while (driver.cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY &&
         us_since(begin) < patience_us)
    std::this_thread::yield();
}

// In a context of that device: the program's current one, or else the primary one, if the program
// uses it.
class in_context_of {
 public:
  explicit in_context_of(int device) noexcept {
    CUdevice current;
    here_ = driver.cuCtxGetDevice(&current) == CUDA_SUCCESS && current == device;
    if (here_ || !cuda_rt::in_use(device)) return;
    entered_.emplace(device);
    here_ = entered_->entered() == status::ok;
  }
  explicit operator bool() const noexcept { return here_; }

 private:
  std::optional<gpurt::guard<cuda_rt>> entered_;
  bool here_ = false;
};

// False: not done, to be tried again.
bool settle_allocation(const pointer_info& info) noexcept {
  const relaxed_capture relaxed;
  const in_context_of here(info.device);
  if (here && !default_stream_is_free()) return false;
  unsigned on = 1;
  driver.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, info.base);
  if (here) wait_for_default_stream();
  return true;
}

// Done once for a context. The driver waits for what runs there meanwhile. If it cannot set the
// flag, the default stream is waited for at every message.
void settle_context(int device, bool may_wait) noexcept {
  CUcontext current = nullptr;
  const auto is_done = [&] {
    return driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS ||
           (current && synchronous[device].load(std::memory_order_relaxed) == current);
  };
  if (device < 0 || device >= device_limit || is_done()) return;
  const relaxed_capture relaxed;
  const in_context_of here(device);
  if (!here || is_done() || !default_stream_is_free()) return;
  unsigned flags = 0;
  const bool set = may_wait && driver.cuCtxSetFlags &&
                   driver.cuCtxGetFlags(&flags) == CUDA_SUCCESS &&
                   driver.cuCtxSetFlags(flags | CU_CTX_SYNC_MEMOPS) == CUDA_SUCCESS;
  wait_for_default_stream();
  if (set) synchronous[device].store(current, std::memory_order_relaxed);
}

static_assert(gpurt::no_location == CU_DEVICE_INVALID);

bool lies_on_device(const void* address, int& ordinal) noexcept {
  const auto ask = [&](CUmem_range_attribute asked, int& location) noexcept {
    return driver.cuMemRangeGetAttribute(&location, sizeof location, asked,
                                         reinterpret_cast<CUdeviceptr>(address), 1) == CUDA_SUCCESS;
  };
  return gpurt::lies_on_device(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                               CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, ask, ordinal);
}

}  // namespace

// A message of the program's may be the first one from a pool, and come while a kernel waits.
cudaError_t cuda_rt::before_waits(int device) noexcept {
  settle_context(device, true);
  return cudaSuccess;
}

// One driver call, or two (three for a chunk) for an allocation that is new to the thread.
// cuPointerGetAttributes returns zeros for an address that it does not know, sets no error and
// needs no current context.
cudaError_t cuda_rt::classify(const void* address, bool detail, pointer_info& out) noexcept {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  for (const pointer_info* e : {known.find(number), chunks_known.find(number)}) {
    if (!e || !still_there(*e, address)) continue;
    out = *e;
    return cudaSuccess;
  }
  unsigned type = 0, managed = 0, exportable = 0, settled = 0;
  unsigned long long handle_types = 0;  // the driver writes 64 bits
  int ordinal = -1;
  unsigned long long buffer = 0;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  CUpointer_attribute asked[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,          CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,       CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
      CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, CU_POINTER_ATTRIBUTE_BUFFER_ID,
      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,     CU_POINTER_ATTRIBUTE_RANGE_SIZE,
      CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
  void* answers[] = {&type,   &managed, &ordinal, &exportable, &handle_types,
                     &buffer, &base,    &bytes,   &settled};
  const unsigned count = detail ? std::size(asked) : 5;
  const CUresult r =
      driver.cuPointerGetAttributes(count, asked, answers, reinterpret_cast<CUdeviceptr>(address));
  if (r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_NOT_INITIALIZED) return cudaSuccess;
  if (r != CUDA_SUCCESS) return runtime_error(r);
  out.cpu_accessible = managed && lies_on_device(address, ordinal);
  if (managed)
    out.kind = out.cpu_accessible ? memory_kind::device : memory_kind::managed;
  else if (type == CU_MEMORYTYPE_DEVICE)
    out.kind = memory_kind::device;
  else if (type == CU_MEMORYTYPE_HOST)
    out.kind = memory_kind::pinned;
  else
    return cudaSuccess;
  // The details of an allocation make the next look-up cheap, so they are fetched now. Only
  // exportable device memory is remembered.
  if (!detail && out.kind == memory_kind::device && exportable) return classify(address, true, out);
  out.owner = vendor::cuda;
  out.device = static_cast<std::int16_t>(ordinal);
  out.base = base;
  out.bytes = bytes;
  out.generation = buffer;
  out.exportable = out.kind == memory_kind::device && exportable != 0;
  const bool is_chunk = out.kind == memory_kind::device && !exportable &&
                        describe_chunk(reinterpret_cast<CUdeviceptr>(address), handle_types, out);
  if (is_chunk)
    chunks_known.at(number) = out;
  else if (out.exportable && (settled || settle_allocation(out)))
    known.insert(out);
  return cudaSuccess;
}

// Exportable allocations are settled when they are first seen (settle_allocation).
void cuda_rt::settle(const pointer_info& about, bool may_wait) noexcept {
  const bool on_device = about.kind == memory_kind::device || about.kind == memory_kind::managed;
  if (on_device && (about.is_chunk || !about.exportable)) settle_context(about.device, may_wait);
}

cudaError_t cuda_rt::ipc_get(ipc_handle& out, void* address) noexcept {
  static_assert(sizeof(cudaIpcMemHandle_t) <= ipc_handle::capacity);
  cudaIpcMemHandle_t handle;
  const cudaError_t e = cudaIpcGetMemHandle(&handle, address);
  std::memcpy(out.bytes, &handle, sizeof handle);
  // Memory that was itself imported, or a system without handles (some containers, WSL).
  return e == cudaErrorInvalidValue || e == cudaErrorMapBufferObjectFailed ? cudaErrorNotSupported
                                                                           : e;
}

cudaError_t cuda_rt::ipc_open(void** address, const ipc_handle& handle) noexcept {
  cudaIpcMemHandle_t native;
  std::memcpy(&native, handle.bytes, sizeof native);
  const cudaError_t e = cudaIpcOpenMemHandle(address, native, cudaIpcMemLazyEnablePeerAccess);
  switch (e) {
    case cudaErrorMapBufferObjectFailed:  // no room, or the allocation has been freed
    case cudaErrorAlreadyMapped:          // a former one at its addresses is open
    case cudaErrorInvalidResourceHandle:  // another container
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorTooManyPeers:
    case cudaErrorInvalidDevice:  // the exporter's device is not visible here
    case cudaErrorInvalidValue:
      return cudaErrorNotSupported;
    default:
      return e;
  }
}

status cuda_rt::map_for_cpu(const pointer_info& info, void** window) noexcept {
  const auto mapped = gdrcopy::map(info);
  TELPHER_TRY(mapped);
  *window = *mapped;
  return status::ok;
}

void cuda_rt::unmap_for_cpu(const pointer_info&, void* window) noexcept {
  gdrcopy::unmap(window);
}

}  // namespace telpher::device::cuda
