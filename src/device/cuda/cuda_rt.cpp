// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/cuda_rt.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <iterator>
#include <string>
#include <thread>

#include "base/library.hpp"
#include "device/cuda/gdrcopy.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/gpurt/runtime.hpp"

namespace telpher::device::cuda {
namespace {

constexpr int device_limit = 64;

// cuda.h renames functions by macros: cuDeviceTotalMem becomes cuDeviceTotalMem_v2. Two levels of
// macros give the name after that replacement, which is the name in the library.
#define TELPHER_TEXT_OF(name) #name
#define TELPHER_TEXT(name) TELPHER_TEXT_OF(name)

struct driver_table {
#define TELPHER_DRIVER(name) decltype(&::name) name = nullptr;
#include "device/cuda/driver.def"
#undef TELPHER_DRIVER
  // Null in drivers before these versions of CUDA.
  decltype(&::cuCtxSetFlags) cuCtxSetFlags = nullptr;                // 12.1
  decltype(&::cuStreamWaitValue32) cuStreamWaitValue32 = nullptr;    // 11.7
  decltype(&::cuStreamWriteValue32) cuStreamWriteValue32 = nullptr;  // 11.7
};
driver_table driver;

std::atomic<bool> seen_started{false};
std::atomic<int> known_count{-1};
std::atomic<CUcontext> primary[device_limit];  // retained at the device's first use and kept
std::atomic<CUcontext>
    synchronous[device_limit];  // the program's, whose copies end before they return

// The runtime and the driver use the same number for an error that both have.
cudaError_t runtime_error(CUresult r) {
  return static_cast<cudaError_t>(r);
}

// While the program captures a stream, CUDA refuses calls of this thread that are unsafe in a
// capture, or ends the capture. Our calls never touch the captured stream, so they run in relaxed
// mode.
class relaxed_capture {
 public:
  relaxed_capture() { driver.cuThreadExchangeStreamCaptureMode(&mode_); }
  ~relaxed_capture() { driver.cuThreadExchangeStreamCaptureMode(&mode_); }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

CUresult context_of(int device, CUcontext& context) {
  if (device >= device_limit) return CUDA_ERROR_INVALID_DEVICE;
  context = primary[device].load(std::memory_order_acquire);
  if (context) return CUDA_SUCCESS;
  if (const CUresult r = driver.cuInit(0); r != CUDA_SUCCESS) return r;
  CUdevice handle;
  if (const CUresult r = driver.cuDeviceGet(&handle, device); r != CUDA_SUCCESS) return r;
  if (const CUresult r = driver.cuDevicePrimaryCtxRetain(&context, handle); r != CUDA_SUCCESS)
    return r;
  primary[device].store(context, std::memory_order_release);
  return CUDA_SUCCESS;
}

int attribute(CUdevice device, CUdevice_attribute which) {
  int value = -1;
  return driver.cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS ? value : -1;
}

}  // namespace

bool load_driver(const char*& why) noexcept {
  static auto& text = *new std::string;
  const library cuda = library::open("libcuda.so.1", text);
  why = text.c_str();
  if (!cuda) return false;
#define TELPHER_DRIVER(name)                                                              \
  driver.name = reinterpret_cast<decltype(driver.name)>(cuda.symbol(TELPHER_TEXT(name))); \
  if (!driver.name) {                                                                     \
    why = "the driver has no " TELPHER_TEXT(name);                                        \
    return false;                                                                         \
  }
#include "device/cuda/driver.def"
#undef TELPHER_DRIVER
#define TELPHER_OPTIONAL(name) \
  driver.name = reinterpret_cast<decltype(driver.name)>(cuda.symbol(TELPHER_TEXT(name)))
  TELPHER_OPTIONAL(cuCtxSetFlags);
  TELPHER_OPTIONAL(cuStreamWaitValue32);
  TELPHER_OPTIONAL(cuStreamWriteValue32);
#undef TELPHER_OPTIONAL
  return true;
}

status cuda_rt::to_status(error_type e) noexcept {
  switch (e) {
    case cudaSuccess:
      return status::ok;
    case cudaErrorNotReady:
      return status::would_block;
    case cudaErrorNotSupported:
      return status::not_supported;
    case cudaErrorMemoryAllocation:
      return status::out_of_memory;
    case cudaErrorInvalidValue:
    case cudaErrorInvalidDevice:
      return status::invalid_argument;
    default:
      return status::device_error;
  }
}

// --- the runtime ---

bool cuda_rt::started() noexcept {
  if (seen_started.load(std::memory_order_relaxed)) [[likely]]
    return true;
  int devices = 0;
  if (driver.cuDeviceGetCount(&devices) != CUDA_SUCCESS) return false;
  known_count.store(devices);
  seen_started.store(true);
  return true;
}

int cuda_rt::device_count() noexcept {
  if (started()) return known_count.load(std::memory_order_relaxed);
  return gpurt::visible_of("CUDA_VISIBLE_DEVICES", gpurt::nvidia_device_files());
}

int cuda_rt::current_device() noexcept {
  CUdevice device;
  if (!started() || driver.cuCtxGetDevice(&device) != CUDA_SUCCESS) return -1;
  return device;
}

cudaError_t cuda_rt::enter(int device, saved_type& saved) noexcept {
  CUcontext wanted;
  if (const CUresult r = context_of(device, wanted); r != CUDA_SUCCESS) return runtime_error(r);
  if (const CUresult r = driver.cuCtxGetCurrent(&saved.context); r != CUDA_SUCCESS)
    return runtime_error(r);
  saved.changed = saved.context != wanted;
  if (saved.changed)
    if (const CUresult r = driver.cuCtxSetCurrent(wanted); r != CUDA_SUCCESS)
      return runtime_error(r);
  saved.mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver.cuThreadExchangeStreamCaptureMode(&saved.mode);
  return cudaSuccess;
}

void cuda_rt::leave(const saved_type& saved) noexcept {
  CUstreamCaptureMode mode = saved.mode;
  driver.cuThreadExchangeStreamCaptureMode(&mode);
  if (saved.changed) driver.cuCtxSetCurrent(saved.context);
}

cudaError_t cuda_rt::properties(int device, device_properties& out) noexcept {
  out = {};
  if (!started()) return cudaErrorNotSupported;  // asking would start the driver
  CUdevice handle;
  if (const CUresult r = driver.cuDeviceGet(&handle, device); r != CUDA_SUCCESS)
    return runtime_error(r);
  CUuuid uuid{};
  driver.cuDeviceGetName(out.name, sizeof out.name, handle);
  driver.cuDeviceGetUuid(&uuid, handle);
  driver.cuDeviceTotalMem(&out.memory_bytes, handle);
  static_assert(sizeof uuid == sizeof out.uuid);
  std::memcpy(&out.uuid, &uuid, sizeof uuid);
  out.processors = attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  out.pci_domain = attribute(handle, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID);
  out.pci_bus = attribute(handle, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  out.pci_device = attribute(handle, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID);
  out.numa_node = gpurt::numa_node_of(out.pci_domain, out.pci_bus, out.pci_device);
  out.runs_together = attribute(handle, CU_DEVICE_ATTRIBUTE_MPS_ENABLED) == 1;
  return cudaSuccess;
}

bool cuda_rt::peer_access(int device, int peer) noexcept {
  int can = 0;
  return started() && driver.cuDeviceCanAccessPeer(&can, device, peer) == CUDA_SUCCESS && can;
}

distance cuda_rt::distance_between(int device, int peer) noexcept {
  if (!peer_access(device, peer)) return distance::unreachable;
  // Atomics on a peer's memory work over NVLink and not over PCIe.
  int atomics = 0;
  driver.cuDeviceGetP2PAttribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, device,
                                 peer);
  return atomics ? distance::fabric : distance::pcie;
}

// --- memory ---

namespace {

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

bool still_there(const pointer_info& e, const void* address) noexcept {
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

// Whether the default stream may be queried. While a stream that synchronises with it is being
// captured, any use of the default stream ends the capture.
bool default_stream_is_free() noexcept {
  CUstreamCaptureStatus captures{};
  return driver.cuStreamIsCapturing(CU_STREAM_LEGACY, &captures) !=
         CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

void wait_for_default_stream() noexcept {
  constexpr auto patience = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (driver.cuStreamQuery(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
}

// False: not done, to be tried again.
bool settle_allocation(const pointer_info& info) noexcept {
  const relaxed_capture relaxed;
  CUdevice current;
  const bool here = driver.cuCtxGetDevice(&current) == CUDA_SUCCESS && current == info.device;
  if (here && !default_stream_is_free()) return false;
  unsigned on = 1;
  driver.cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, info.base);
  if (here) wait_for_default_stream();
  return true;
}

// Done once for a context. If the driver cannot set the flag, the default stream is waited for at
// every message.
void settle_context(int device) noexcept {
  CUcontext current = nullptr;
  if (device < 0 || device >= device_limit || driver.cuCtxGetCurrent(&current) != CUDA_SUCCESS ||
      !current || synchronous[device].load(std::memory_order_relaxed) == current)
    return;
  const relaxed_capture relaxed;
  CUdevice its_device;
  if (driver.cuCtxGetDevice(&its_device) != CUDA_SUCCESS || its_device != device ||
      !default_stream_is_free())
    return;
  unsigned flags = 0;
  const bool set = driver.cuCtxSetFlags && driver.cuCtxGetFlags(&flags) == CUDA_SUCCESS &&
                   driver.cuCtxSetFlags(flags | CU_CTX_SYNC_MEMOPS) == CUDA_SUCCESS;
  wait_for_default_stream();
  if (set) synchronous[device].store(current, std::memory_order_relaxed);
}

}  // namespace

// One driver call, or two for an allocation that is new to the thread. cuPointerGetAttributes
// returns zeros for an address that it does not know, sets no error and needs no current context.
cudaError_t cuda_rt::classify(const void* address, bool detail, pointer_info& out) noexcept {
  if (const pointer_info* e = known.find(reinterpret_cast<std::uintptr_t>(address)))
    if (still_there(*e, address)) {
      out = *e;
      return cudaSuccess;
    }
  unsigned type = 0, managed = 0, exportable = 0, settled = 0;
  int ordinal = -1;
  unsigned long long buffer = 0;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  CUpointer_attribute asked[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
      CU_POINTER_ATTRIBUTE_BUFFER_ID,      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      CU_POINTER_ATTRIBUTE_RANGE_SIZE,     CU_POINTER_ATTRIBUTE_SYNC_MEMOPS};
  void* answers[] = {&type, &managed, &ordinal, &exportable, &buffer, &base, &bytes, &settled};
  const unsigned count = detail ? std::size(asked) : 4;
  const CUresult r =
      driver.cuPointerGetAttributes(count, asked, answers, reinterpret_cast<CUdeviceptr>(address));
  if (r == CUDA_ERROR_INVALID_VALUE || r == CUDA_ERROR_NOT_INITIALIZED) return cudaSuccess;
  if (r != CUDA_SUCCESS) return runtime_error(r);
  if (managed)
    out.kind = memory_kind::managed;
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
  if (out.exportable && (settled || settle_allocation(out))) known.insert(out);
  if (!out.exportable && out.kind != memory_kind::pinned) settle_context(ordinal);
  return cudaSuccess;
}

cudaError_t cuda_rt::ipc_get(ipc_handle& out, void* address) noexcept {
  static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof(ipc_handle));
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

// --- work ---

// Streams share the device's work queues (CUDA_DEVICE_MAX_CONNECTIONS), and a queue stands still
// while one of its streams waits for memory. The program's streams that wait for us have the
// default priority mostly, so ours have the highest.
cudaError_t cuda_rt::stream_create(stream_type* out) noexcept {
  // Loading a kernel at its first launch may wait for the device. Load all kernels now, while none
  // of our work runs.
  if (const int e = kernel::gpu_load(); e != cudaSuccess) return static_cast<cudaError_t>(e);
  int least = 0, greatest = 0;
  if (const cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest); e != cudaSuccess)
    return e;
  return cudaStreamCreateWithPriority(out, cudaStreamNonBlocking, greatest);
}

cudaError_t cuda_rt::program_stream_create(stream_type* out) noexcept {
  if (const int e = kernel::gpu_load(); e != cudaSuccess) return static_cast<cudaError_t>(e);
  return cudaStreamCreateWithFlags(out, cudaStreamNonBlocking);
}

cudaError_t cuda_rt::event_query(event_type e) noexcept {
  const relaxed_capture relaxed;
  return runtime_error(driver.cuEventQuery(e));
}

// --- the program's streams ---

// The special handles stand for a stream of the current device, which is the first one in a thread
// that has chosen none.
cudaError_t cuda_rt::adopt(void* native, stream_type& s, int& device) noexcept {
  s = static_cast<stream_type>(native);
  CUcontext own = nullptr;
  if (native == nullptr || s == cudaStreamLegacy || s == cudaStreamPerThread) {
    device = std::max(current_device(), 0);
    return cudaSuccess;
  }
  if (const CUresult r = driver.cuStreamGetCtx(s, &own); r != CUDA_SUCCESS) return runtime_error(r);
  if (const CUresult r = driver.cuCtxPushCurrent(own); r != CUDA_SUCCESS) return runtime_error(r);
  CUdevice found;
  const CUresult r = driver.cuCtxGetDevice(&found);
  driver.cuCtxPopCurrent(&own);
  device = found;
  return runtime_error(r);
}

// The default stream answers an error while a stream that waits for it is being captured.
bool cuda_rt::is_captured(stream_type s) noexcept {
  CUstreamCaptureStatus captures{};
  const CUresult r = driver.cuStreamIsCapturing(s, &captures);
  return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
         (r == CUDA_SUCCESS && captures != CU_STREAM_CAPTURE_STATUS_NONE);
}

bool cuda_rt::streams_wait(int) noexcept {
  return driver.cuStreamWaitValue32 && driver.cuStreamWriteValue32;
}

// Words stay below 2^31, where the driver's comparison is that of numbers without a sign. Pinned
// memory has one address for host and device.
cudaError_t cuda_rt::wait_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
  return runtime_error(driver.cuStreamWaitValue32(s, reinterpret_cast<CUdeviceptr>(word), value,
                                                  CU_STREAM_WAIT_VALUE_GEQ));
}

cudaError_t cuda_rt::write_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
  return runtime_error(driver.cuStreamWriteValue32(s, reinterpret_cast<CUdeviceptr>(word), value,
                                                   CU_STREAM_WRITE_VALUE_DEFAULT));
}

cudaError_t cuda_rt::synchronise_default() noexcept {
  if (!default_stream_is_free()) return cudaSuccess;
  if (const cudaError_t e = cudaStreamSynchronize(cudaStreamLegacy); e != cudaSuccess) return e;
  return cudaStreamSynchronize(cudaStreamPerThread);
}

static_assert(gpurt::gpu_runtime<cuda_rt>);

}  // namespace telpher::device::cuda
