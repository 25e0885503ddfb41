// SPDX-License-Identifier: BSD-3-Clause
#include "device/hip/hip_rt.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

#include "device/gpurt/managed.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/gpurt/runtime.hpp"

namespace telpher::device::hip {
namespace {

std::atomic<bool> seen_started{false};
std::atomic<int> known_count{-1};

int attribute(int device, hipDeviceAttribute_t which) {
  int value = -1;
  const hipError_t e = hipDeviceGetAttribute(&value, which, device);
  if (e != hipSuccess) hip_rt::clear_error(e);
  return e == hipSuccess ? value : -1;
}

}  // namespace

status hip_rt::to_status(error_type e) noexcept {
  switch (e) {
    case hipSuccess:
      return status::ok;
    case hipErrorNotReady:
      return status::would_block;
    case hipErrorNotSupported:
      return status::not_supported;
    case hipErrorOutOfMemory:
      return status::out_of_memory;
    case hipErrorInvalidValue:
    case hipErrorInvalidDevice:
      return status::invalid_argument;
    default:
      return status::device_error;
  }
}

// --- the runtime ---

bool hip_rt::started() noexcept {
  if (seen_started.load(std::memory_order_relaxed)) [[likely]]
    return true;
  int devices = 0;
  if (!platform::runs() || hipGetDeviceCount(&devices) != hipSuccess) return false;
  known_count.store(devices);
  seen_started.store(true);
  return true;
}

int hip_rt::device_count() noexcept {
  if (started()) return known_count.load(std::memory_order_relaxed);
  return platform::visible_devices();
}

int hip_rt::current_device() noexcept {
  int device = -1;
  return started() && hipGetDevice(&device) == hipSuccess ? device : -1;
}

hipError_t hip_rt::enter(int device, saved_type& saved) noexcept {
  if (const hipError_t e = hipGetDevice(&saved.device); e != hipSuccess) return e;
  if (saved.device != device)
    if (const hipError_t e = hipSetDevice(device); e != hipSuccess) return e;
  // See cuda_rt.cpp: our calls must not end a capture of the program's.
  saved.mode = hipStreamCaptureModeRelaxed;
  static_cast<void>(hipThreadExchangeStreamCaptureMode(&saved.mode));
  return hipSuccess;
}

void hip_rt::leave(const saved_type& saved) noexcept {
  hipStreamCaptureMode mode = saved.mode;
  static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode));
  static_cast<void>(hipSetDevice(saved.device));
}

hipError_t hip_rt::properties(int device, device_properties& out) noexcept {
  out = {};
  if (!started()) return hipErrorNotSupported;  // asking would start the runtime
  hipDevice_t handle;
  if (const hipError_t e = hipDeviceGet(&handle, device); e != hipSuccess) return e;
  hipUUID uuid{};
  if (const hipError_t e = hipDeviceGetUuid(&uuid, handle); e != hipSuccess) return e;
  static_assert(sizeof uuid == sizeof out.uuid);
  std::memcpy(&out.uuid, &uuid, sizeof uuid);
  if (const hipError_t e = hipDeviceGetName(out.name, sizeof out.name, handle); e != hipSuccess)
    return e;
  if (const hipError_t e = hipDeviceTotalMem(&out.memory_bytes, handle); e != hipSuccess) return e;
  out.processors = attribute(device, hipDeviceAttributeMultiprocessorCount);
  out.pci_domain = attribute(device, hipDeviceAttributePciDomainID);
  out.pci_bus = attribute(device, hipDeviceAttributePciBusId);
  out.pci_device = attribute(device, hipDeviceAttributePciDeviceId);
  out.numa_node = gpurt::numa_node_of(out.pci_domain, out.pci_bus, out.pci_device);
  return hipSuccess;
}

bool hip_rt::peer_access(int device, int peer) noexcept {
  int can = 0;
  if (!started()) return false;
  const hipError_t e = hipDeviceCanAccessPeer(&can, device, peer);
  if (e != hipSuccess) clear_error(e);
  return e == hipSuccess && can;
}

distance hip_rt::distance_between(int device, int peer) noexcept {
  if (!peer_access(device, peer)) return distance::unreachable;
  return platform::link_between(device, peer);
}

// --- memory ---

namespace {

static_assert(gpurt::no_location == hipInvalidDeviceId);

bool lies_on_device(const void* address, int& ordinal) noexcept {
  const auto ask = [&](hipMemRangeAttribute asked, int& location) noexcept {
    const hipError_t e = hipMemRangeGetAttribute(&location, sizeof location, asked, address, 1);
    if (e != hipSuccess) hip_rt::clear_error(e);
    return e == hipSuccess;
  };
  return gpurt::lies_on_device(hipMemRangeAttributeLastPrefetchLocation,
                               hipMemRangeAttributePreferredLocation, ask, ordinal);
}

}  // namespace

// For unknown memory HIP returns success and leaves a value unchanged. HIP 5 uses 0 for host
// memory, later versions use 0 for unknown memory; so memory without a range counts as unknown.
// With XNACK kernels may also use memory that HIP never saw; it is host memory here. So is managed
// memory that the program has not put on a device. Memory of hipMalloc is device memory on MI300A,
// too: the CPU window serves small messages, the GPU's bandwidth the large ones.
hipError_t hip_rt::classify(const void* address, bool detail, pointer_info& out) noexcept {
  unsigned type = 0, managed = 0;
  unsigned long long buffer = 0;  // HIP writes four bytes, CUDA eight
  int ordinal = -1;
  void* base = nullptr;
  std::size_t bytes = 0;
  hipPointer_attribute asked[] = {
      HIP_POINTER_ATTRIBUTE_MEMORY_TYPE,    HIP_POINTER_ATTRIBUTE_IS_MANAGED,
      HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR,
      HIP_POINTER_ATTRIBUTE_RANGE_SIZE,     HIP_POINTER_ATTRIBUTE_BUFFER_ID};
  void* answers[] = {&type, &managed, &ordinal, &base, &bytes, &buffer};
  const hipError_t e =
      hipDrvPointerGetAttributes(std::size(asked), asked, answers, const_cast<void*>(address));
  if (e != hipSuccess) {
    clear_error(e);
    return e == hipErrorInvalidValue ? hipSuccess : e;
  }
  if (bytes == 0) return hipSuccess;
  const bool migrates = (managed & 0xff) || type == hipMemoryTypeUnified;
  out.cpu_accessible = migrates && lies_on_device(address, ordinal);
  if (migrates)
    out.kind = out.cpu_accessible ? memory_kind::device : memory_kind::managed;
  else if (type == hipMemoryTypeDevice)
    out.kind = memory_kind::device;
  else
    out.kind = memory_kind::pinned;
  out.owner = vendor::hip;
  out.device = static_cast<std::int16_t>(ordinal);
  out.base = reinterpret_cast<std::uintptr_t>(base);
  out.bytes = bytes;
  out.generation = buffer;
  out.exportable =
      detail && !migrates && out.kind == memory_kind::device && platform::exportable(address);
  return hipSuccess;
}

// Kernels use the host address. If the device has a different address for the registered memory,
// the registration is useless.
hipError_t hip_rt::register_host(void* address, std::size_t bytes) noexcept {
  const hipError_t e =
      hipHostRegister(address, bytes, hipHostRegisterPortable | hipHostRegisterMapped);
  if (e != hipSuccess) return e;
  void* seen = nullptr;
  const hipError_t asked = hipHostGetDevicePointer(&seen, address, 0);
  if (asked == hipSuccess && seen == address) return hipSuccess;
  if (asked != hipSuccess) clear_error(asked);
  static_cast<void>(hipHostUnregister(address));
  return hipErrorNotSupported;
}

hipError_t hip_rt::ipc_get(ipc_handle& out, void* address) noexcept {
  static_assert(sizeof(hipIpcMemHandle_t) <= ipc_handle::capacity);
  hipIpcMemHandle_t handle;
  const hipError_t e = hipIpcGetMemHandle(&handle, address);
  std::memcpy(out.bytes, &handle, sizeof handle);
  const bool refused = e == hipErrorInvalidValue || e == hipErrorInvalidDevicePointer ||
                       e == hipErrorMapBufferObjectFailed;
  return refused ? hipErrorNotSupported : e;
}

hipError_t hip_rt::ipc_open(void** address, const ipc_handle& handle) noexcept {
  hipIpcMemHandle_t native;
  std::memcpy(&native, handle.bytes, sizeof native);
  const hipError_t e = hipIpcOpenMemHandle(address, native, hipIpcMemLazyEnablePeerAccess);
  switch (e) {
    case hipErrorInvalidValue:
    case hipErrorMapBufferObjectFailed:  // no room, or the allocation has been freed
    case hipErrorAlreadyMapped:          // a former one at its addresses is open
    case hipErrorInvalidDevicePointer:
    case hipErrorInvalidDevice:   // the exporter's device is not visible here
    case hipErrorInvalidContext:  // the exporter is this process
    case hipErrorInvalidHandle:   // another container
    case hipErrorPeerAccessUnsupported:
      return hipErrorNotSupported;
    default:
      return e;
  }
}

// --- work ---

// Streams share the device's hardware queues (GPU_MAX_HW_QUEUES for each priority), and a queue
// stands still while one of its streams waits for memory. The program's streams that wait for us
// have the default priority mostly, so ours have the highest.
hipError_t hip_rt::stream_create(stream_type* out) noexcept {
  if (const int e = kernel::gpu_load(); e != hipSuccess) return static_cast<hipError_t>(e);
  int least = 0, greatest = 0;
  if (const hipError_t e = hipDeviceGetStreamPriorityRange(&least, &greatest); e != hipSuccess)
    return e;
  return hipStreamCreateWithPriority(out, hipStreamNonBlocking, greatest);
}

hipError_t hip_rt::program_stream_create(stream_type* out) noexcept {
  if (const int e = kernel::gpu_load(); e != hipSuccess) return static_cast<hipError_t>(e);
  return hipStreamCreateWithFlags(out, hipStreamNonBlocking);
}

hipError_t hip_rt::event_query(event_type e) noexcept {
  hipStreamCaptureMode mode = hipStreamCaptureModeRelaxed;  // see enter
  static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode));
  const hipError_t answer = hipEventQuery(e);
  static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode));
  return answer;
}

// --- the program's streams ---

// The special handles stand for a stream of the current device.
hipError_t hip_rt::adopt(void* native, stream_type& s, int& device) noexcept {
  s = static_cast<stream_type>(native);
  if (native == nullptr || s == hipStreamPerThread) {
    device = std::max(current_device(), 0);  // the first one in a thread that has chosen none
    return hipSuccess;
  }
  const hipError_t e = platform::stream_device(s, device);
  if (e == hipSuccess || !is_captured(s)) return e;
  device = std::max(current_device(), 0);  // its capture has failed: whatever is enqueued says so
  return hipSuccess;
}

bool hip_rt::is_captured(stream_type s) noexcept {
  hipStreamCaptureStatus captures{};
  const hipError_t e = hipStreamIsCapturing(s, &captures);
  if (e != hipSuccess) clear_error(e);
  return e == hipErrorStreamCaptureImplicit ||
         (e == hipSuccess && captures != hipStreamCaptureStatusNone);
}

// See cuda_rt.cpp.
hipError_t hip_rt::keep_for_graph(stream_type s, void* object, void (*release)(void*)) noexcept {
  if (!TELPHER_HIP_KEEPS_OBJECTS) return hipErrorNotSupported;
  hipStreamCaptureStatus captures{};
  unsigned long long id = 0;
  hipGraph_t graph = nullptr;
  if (const hipError_t e = hipStreamGetCaptureInfo_v2(s, &captures, &id, &graph, nullptr, nullptr);
      e != hipSuccess)
    return e;
  if (captures == hipStreamCaptureStatusInvalidated) return hipErrorStreamCaptureInvalidated;
  if (captures != hipStreamCaptureStatusActive || !graph) return hipErrorNotSupported;
  hipUserObject_t kept = nullptr;
  if (const hipError_t e =
          hipUserObjectCreate(&kept, object, release, 1, hipUserObjectNoDestructorSync);
      e != hipSuccess)
    return e;
  const hipError_t retained = hipGraphRetainUserObject(graph, kept, 1, hipGraphUserObjectMove);
  return retained == hipSuccess ? retained : hipErrorNotSupported;
}

hipError_t hip_rt::synchronise_default() noexcept {
  if (is_captured(nullptr)) return hipSuccess;
  if (const hipError_t e = hipStreamSynchronize(nullptr); e != hipSuccess) return e;
  return hipStreamSynchronize(hipStreamPerThread);
}

static_assert(gpurt::gpu_runtime<hip_rt>);

}  // namespace telpher::device::hip
