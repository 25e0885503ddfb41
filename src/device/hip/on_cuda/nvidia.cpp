// SPDX-License-Identifier: BSD-3-Clause
// platform.hpp on NVIDIA's hardware.
#include <iterator>
#include <string>

#include "base/library.hpp"
#include "device/cuda/gdrcopy.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/hip/platform.hpp"

namespace telpher::device::hip::platform {
namespace {

// Driver functions that do not start the runtime, or that it has no equivalent for.
struct driver_table {
  decltype(&::cuDeviceGetCount) device_count = nullptr;
  decltype(&::cuDeviceGetP2PAttribute) p2p_attribute = nullptr;
  decltype(&::cuPointerGetAttribute) pointer_attribute = nullptr;
  decltype(&::cuPointerGetAttributes) pointer_attributes = nullptr;
  decltype(&::cuStreamGetCtx) stream_context = nullptr;
  decltype(&::cuCtxPushCurrent) push_context = nullptr;
  decltype(&::cuCtxPopCurrent) pop_context = nullptr;
  decltype(&::cuCtxGetDevice) context_device = nullptr;
  // Older drivers lack these.
  decltype(&::cuStreamWaitValue32) wait_value = nullptr;
  decltype(&::cuStreamWriteValue32) write_value = nullptr;
};
driver_table driver;

}  // namespace

bool load(const char*& why) noexcept {
  static auto& text = *new std::string;
  const library l = library::open("libcuda.so.1", text);
  const bool complete = l && l.find("cuDeviceGetCount", driver.device_count) &&
                        l.find("cuDeviceGetP2PAttribute", driver.p2p_attribute) &&
                        l.find("cuPointerGetAttribute", driver.pointer_attribute) &&
                        l.find("cuPointerGetAttributes", driver.pointer_attributes) &&
                        l.find("cuStreamGetCtx", driver.stream_context) &&
                        l.find("cuCtxPushCurrent_v2", driver.push_context) &&
                        l.find("cuCtxPopCurrent_v2", driver.pop_context) &&
                        l.find("cuCtxGetDevice", driver.context_device);
  if (l) l.find("cuStreamWaitValue32_v2", driver.wait_value);
  if (l) l.find("cuStreamWriteValue32_v2", driver.write_value);
  if (l && !complete) text = "the driver lacks functions that are needed";
  why = text.c_str();
  return complete;
}

bool runs() noexcept {
  int devices = 0;
  return driver.device_count(&devices) == CUDA_SUCCESS;
}

int visible_devices() noexcept {
  return gpurt::visible_of("CUDA_VISIBLE_DEVICES", gpurt::nvidia_device_files());
}

// Atomics on a peer's memory work over NVLink and not over PCIe.
distance link_between(int device, int peer) noexcept {
  int atomics = 0;
  driver.p2p_attribute(&atomics, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, device, peer);
  return atomics ? distance::fabric : distance::pcie;
}

bool exportable(const void* address) noexcept {
  unsigned capable = 0;
  return driver.pointer_attribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                  reinterpret_cast<CUdeviceptr>(address)) == CUDA_SUCCESS &&
         capable != 0;
}

hipError_t malloc_flags(void** address, std::size_t bytes) noexcept {
  return hipMalloc(address, bytes);
}

bool streams_wait(int) noexcept {
  return driver.wait_value && driver.write_value;
}

// The runtime's own call refuses a stream that is captured.
hipError_t stream_device(hipStream_t s, int& device) noexcept {
  CUcontext context = nullptr;
  if (driver.stream_context(s, &context) != CUDA_SUCCESS ||
      driver.push_context(context) != CUDA_SUCCESS)
    return cudaErrorInvalidResourceHandle;
  CUdevice found = 0;
  const CUresult r = driver.context_device(&found);
  driver.pop_context(&context);
  device = found;
  return r == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

hipError_t copy_by_engine(void* to, const void* from, std::size_t bytes, hipStream_t s) noexcept {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s);  // CUDA gives no choice
}

status map_for_cpu(const pointer_info& info, void** window) noexcept {
  const auto mapped = cuda::gdrcopy::map(info);
  TELPHER_TRY(mapped);
  *window = *mapped;
  return status::ok;
}

void unmap_for_cpu(void* window) noexcept {
  cuda::gdrcopy::unmap(window);
}

bool windows_write_combined(int) noexcept {
  return true;
}

void order_windows(int) noexcept {}

}  // namespace telpher::device::hip::platform

// The driver and the runtime use the same number for an error that both have.
hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* asked, void** answers,
                                      void* address) {
  const CUresult r = telpher::device::hip::platform::driver.pointer_attributes(
      count, asked, answers, reinterpret_cast<CUdeviceptr>(address));
  return r == CUDA_ERROR_NOT_INITIALIZED ? cudaErrorInvalidValue : static_cast<hipError_t>(r);
}

hipError_t hipStreamWaitValue32(hipStream_t s, void* word, std::uint32_t value, unsigned flags,
                                std::uint32_t) {
  return static_cast<hipError_t>(telpher::device::hip::platform::driver.wait_value(
      s, reinterpret_cast<CUdeviceptr>(word), value, flags));
}

hipError_t hipStreamWriteValue32(hipStream_t s, void* word, std::uint32_t value, unsigned flags) {
  return static_cast<hipError_t>(telpher::device::hip::platform::driver.write_value(
      s, reinterpret_cast<CUdeviceptr>(word), value, flags));
}
