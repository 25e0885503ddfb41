// SPDX-License-Identifier: BSD-3-Clause
// platform.hpp on AMD's hardware.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/library.hpp"
#include "base/log.hpp"
#include "device/gpurt/nodes.hpp"
#include "device/hip/hip_rt.hpp"
#include "device/hip/platform.hpp"

namespace telpher::device::hip::platform {
namespace {

// A refusal is no error of the program's: ROCm 7 would keep it until the program asks for one.
bool was_answered(hipError_t e) {
  if (e != hipSuccess) hip_rt::clear_error(e);
  return e == hipSuccess;
}

int attribute(int device, hipDeviceAttribute_t which) {
  int value = 0;
  return was_answered(hipDeviceGetAttribute(&value, which, device)) ? value : 0;
}

// CPU and GPU share one memory (MI300A). Both cache it, coherently.
bool one_memory(int device) {
  return attribute(device, hipDeviceAttributeIntegrated) != 0;
}

// The HDP flush register, or null. A write to it pushes the CPU's writes to GPU memory out of the
// GPU's bus interface. The attribute's value is an address, although the function's type is int*.
volatile std::uint32_t* flush_register(int device) {
  std::uint32_t* address = nullptr;
  return was_answered(hipDeviceGetAttribute(reinterpret_cast<int*>(&address),
                                            hipDeviceAttributeHdpMemFlushCntl, device))
             ? address
             : nullptr;
}

// ROCm 7 exports memory by dma-buf, and such an export keeps the memory allocated after hipFree.
void note_ipc_mode() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  int version = 0;
  constexpr int seven = 70'000'000;
  if (hipRuntimeGetVersion(&version) != hipSuccess || version < seven) return;
  const char* legacy = std::getenv("HSA_ENABLE_IPC_MODE_LEGACY");
  if (!legacy || std::strcmp(legacy, "1") != 0)
    TELPHER_INFO(
        "this ROCm may keep memory that was exported to another process after hipFree; "
        "HSA_ENABLE_IPC_MODE_LEGACY=1 avoids it where containers do not keep processes apart");
}

}  // namespace

bool load(const char*&) noexcept {
  return true;
}

// Any HIP call starts HIP. The runtime below it (HSA) tells whether it runs without being started.
bool runs() noexcept {
  using get_info = int(int attribute, void* value);
  static get_info* const query = [] {
    get_info* found = nullptr;
    static_cast<void>(
        library::already_open("libhsa-runtime64.so.1").find("hsa_system_get_info", found));
    return found;
  }();
  std::uint16_t major_version = 0;
  constexpr int version_major_attribute = 0, success = 0;
  return !query || query(version_major_attribute, &major_version) == success;
}

int visible_devices() noexcept {
  const int left = gpurt::visible_of("ROCR_VISIBLE_DEVICES", gpurt::amd_topology_gpus());
  return gpurt::visible_of("HIP_VISIBLE_DEVICES", left);
}

distance link_between(int device, int peer) noexcept {
  constexpr std::uint32_t xgmi = 4;  // HSA_AMD_LINK_INFO_TYPE_XGMI
  std::uint32_t type = 0, hops = 0;
  const bool known = was_answered(hipExtGetLinkTypeAndHopCount(device, peer, &type, &hops));
  return known && type == xgmi ? distance::fabric : distance::pcie;
}

// HIP has no attribute for this. If memory is not exportable, the request for a handle fails.
bool exportable(const void*) noexcept {
  note_ipc_mode();
  return true;
}

// Uncached memory if the runtime has it (ROCm 6 and later), else fine-grained memory.
hipError_t malloc_flags(void** address, std::size_t bytes) noexcept {
#if defined(hipDeviceMallocUncached)
  if (hipExtMallocWithFlags(address, bytes, hipDeviceMallocUncached) == hipSuccess)
    return hipSuccess;
  static_cast<void>(hipGetLastError());
#endif
  return hipExtMallocWithFlags(address, bytes, hipDeviceMallocFinegrained);
}

bool streams_wait(int device) noexcept {
  return attribute(device, hipDeviceAttributeCanUseStreamWaitValue) > 0;
}

hipError_t stream_device(hipStream_t s, int& device) noexcept {
#if HIP_VERSION >= 50600000
  return hipStreamGetDevice(s, &device);
#else
  device = hipGetStreamDeviceId(s);
  return device < 0 ? hipErrorInvalidHandle : hipSuccess;
#endif
}

hipError_t copy_by_engine(void* to, const void* from, std::size_t bytes, hipStream_t s) noexcept {
  // hipMemcpyDeviceToDeviceNoCU of ROCm 6.1; older headers do not define it
  constexpr int number = 1024;
  hipMemcpyKind no_compute_units;
  static_assert(sizeof no_compute_units == sizeof number);
  std::memcpy(&no_compute_units, &number, sizeof number);
  const hipError_t e = hipMemcpyAsync(to, from, bytes, no_compute_units, s);
  if (e != hipErrorInvalidValue && e != hipErrorInvalidMemcpyDirection) return e;
  static_cast<void>(hipGetLastError());
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, s);
}

// A GPU with a large BAR, and one that shares its memory with the CPU, show their memory at the
// device address itself. The process's memory map tells whether this allocation is accessible
// there.
status map_for_cpu(const pointer_info& info, void** window) noexcept {
  if (!one_memory(info.device) && !attribute(info.device, hipDeviceAttributeIsLargeBar))
    return status::not_supported;
  void* const base = reinterpret_cast<void*>(info.base);
  if (!gpurt::cpu_may_access(base, info.bytes)) return status::out_of_memory;
  *window = base;
  return status::ok;
}

void unmap_for_cpu(void*) noexcept {}

bool windows_write_combined(int device) noexcept {
  return !one_memory(device);
}

void order_windows(int device) noexcept {
  constexpr int most = 64;
  static std::atomic<volatile std::uint32_t*> registers[most];
  static std::atomic<bool> asked[most];
  if (device >= most) return;
  if (!asked[device].load(std::memory_order_acquire)) {
    registers[device].store(flush_register(device), std::memory_order_relaxed);
    asked[device].store(true, std::memory_order_release);
  }
  if (auto* flush = registers[device].load(std::memory_order_relaxed)) *flush = 1;
}

}  // namespace telpher::device::hip::platform
