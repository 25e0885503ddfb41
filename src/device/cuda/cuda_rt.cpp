// SPDX-License-Identifier: BSD-3-Clause
#include "device/cuda/cuda_rt.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "base/library.hpp"
#include "device/cuda/driver.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/gpurt/runtime.hpp"

namespace telpher::device::cuda {
namespace {

// cuda.h renames functions by macros: cuDeviceTotalMem becomes cuDeviceTotalMem_v2. Two levels of
// macros give the name after that replacement, which is the name in the library.
#define TELPHER_TEXT_OF(name) #name
#define TELPHER_TEXT(name) TELPHER_TEXT_OF(name)

std::atomic<bool> seen_started{false};
std::atomic<int> known_count{-1};
std::atomic<CUcontext> primary[device_limit];  // retained at the device's first use and kept

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

driver_table driver;

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
  TELPHER_OPTIONAL(cuStreamBatchMemOp);
#undef TELPHER_OPTIONAL
  return true;
}

bool default_stream_is_free() noexcept {
  CUstreamCaptureStatus captures{};
  return driver.cuStreamIsCapturing(CU_STREAM_LEGACY, &captures) !=
         CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
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

bool cuda_rt::in_use(int device) noexcept {
  unsigned flags = 0;
  int active = 0;
  CUdevice handle;
  return driver.cuDeviceGet(&handle, device) == CUDA_SUCCESS &&
         driver.cuDevicePrimaryCtxGetState(handle, &flags, &active) == CUDA_SUCCESS && active != 0;
}

// A reset destroys contexts although this back end has retained them.
bool cuda_rt::was_reset() noexcept {
  for (int d = 0; d < device_limit; ++d)
    if (primary[d].load(std::memory_order_relaxed) && !in_use(d)) return true;
  return false;
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
  driver.cuDeviceGetUuid_v2(&uuid, handle);
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

// From Volta on, on the device and over NVLink.
bool cuda_rt::delivers_lines(int device) noexcept {
  CUdevice handle = 0;
  return driver.cuDeviceGet(&handle, device) == CUDA_SUCCESS &&
         attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 7;
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
  const CUresult r = driver.cuStreamGetCtx(s, &own);
  if (r == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {  // whatever is enqueued now says so
    device = std::max(current_device(), 0);
    return cudaSuccess;
  }
  if (r != CUDA_SUCCESS) return runtime_error(r);
  for (device = 0; device < device_limit; ++device)
    if (primary[device].load(std::memory_order_relaxed) == own) return cudaSuccess;
  if (const CUresult pushed = driver.cuCtxPushCurrent(own); pushed != CUDA_SUCCESS)
    return runtime_error(pushed);
  CUdevice found;
  const CUresult asked = driver.cuCtxGetDevice(&found);
  driver.cuCtxPopCurrent(&own);
  device = found;
  return runtime_error(asked);
}

// The default stream answers an error while a stream that waits for it is being captured.
bool cuda_rt::is_captured(stream_type s) noexcept {
  CUstreamCaptureStatus captures{};
  const CUresult r = driver.cuStreamIsCapturing(s, &captures);
  return r == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT ||
         (r == CUDA_SUCCESS && captures != CU_STREAM_CAPTURE_STATUS_NONE);
}

bool cuda_rt::streams_wait(int) noexcept {
  return driver.cuStreamWaitValue32 && driver.cuStreamWriteValue32 && driver.cuStreamBatchMemOp;
}

// Words stay below 2^31, where the driver's comparison is that of numbers without a sign. Pinned
// memory has one address for host and device.
cudaError_t cuda_rt::wait_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
  if (!driver.cuStreamWaitValue32) return cudaErrorNotSupported;
  return runtime_error(driver.cuStreamWaitValue32(s, reinterpret_cast<CUdeviceptr>(word), value,
                                                  CU_STREAM_WAIT_VALUE_GEQ));
}

cudaError_t cuda_rt::write_value(stream_type s, std::uint32_t* word, std::uint32_t value) noexcept {
  if (!driver.cuStreamWriteValue32) return cudaErrorNotSupported;
  return runtime_error(driver.cuStreamWriteValue32(s, reinterpret_cast<CUdeviceptr>(word), value,
                                                   CU_STREAM_WRITE_VALUE_DEFAULT));
}

// One call takes the driver's lock once, and the stream finds both operations at once.
cudaError_t cuda_rt::write_and_wait(stream_type s, std::uint32_t* written, std::uint32_t* awaited,
                                    std::uint32_t value) noexcept {
  CUstreamBatchMemOpParams both[2] = {};
  both[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  both[0].writeValue.address = reinterpret_cast<CUdeviceptr>(written);
  both[0].writeValue.value = value;
  both[0].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  both[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  both[1].waitValue.address = reinterpret_cast<CUdeviceptr>(awaited);
  both[1].waitValue.value = value;
  both[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return runtime_error(driver.cuStreamBatchMemOp(s, 2, both, 0));
}

// The graph takes the reference that the object is made with.
cudaError_t cuda_rt::keep_for_graph(stream_type s, void* object, void (*release)(void*)) noexcept {
  cudaStreamCaptureStatus captures{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
  const cudaError_t e = cudaStreamGetCaptureInfo(s, &captures, &id, &graph);
#else
  const cudaError_t e = cudaStreamGetCaptureInfo_v2(s, &captures, &id, &graph);
#endif
  if (e != cudaSuccess) return e;
  if (captures == cudaStreamCaptureStatusInvalidated) return cudaErrorStreamCaptureInvalidated;
  if (captures != cudaStreamCaptureStatusActive || !graph) return cudaErrorNotSupported;
  cudaUserObject_t kept = nullptr;
  if (const cudaError_t made =
          cudaUserObjectCreate(&kept, object, release, 1, cudaUserObjectNoDestructorSync);
      made != cudaSuccess)
    return made;
  const cudaError_t retained = cudaGraphRetainUserObject(graph, kept, 1, cudaGraphUserObjectMove);
  // The object's owner keeps it where the graph does not.
  return retained == cudaSuccess ? retained : cudaErrorNotSupported;
}

cudaError_t cuda_rt::synchronise_default() noexcept {
  if (!default_stream_is_free()) return cudaSuccess;
  if (const cudaError_t e = cudaStreamSynchronize(cudaStreamLegacy); e != cudaSuccess) return e;
  return cudaStreamSynchronize(cudaStreamPerThread);
}

static_assert(gpurt::gpu_runtime<cuda_rt> && gpurt::gives_descriptors<cuda_rt>);

}  // namespace telpher::device::cuda
