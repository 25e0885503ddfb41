// SPDX-License-Identifier: BSD-3-Clause
// What HIP does not offer, or offers differently on AMD's and NVIDIA's hardware. Implemented by
// amd.cpp and on_cuda/nvidia.cpp; the build takes one of them. The rest of the back end is the same
// source for both.
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__  // the header in on_cuda/ ignores it
#endif
#include <hip/hip_runtime_api.h>

#include "base/status.hpp"
#include "device/types.hpp"

// What ROCm 5.3 has added: Debian's header is older, the library may be newer.
#if defined(HIP_VERSION) && HIP_VERSION < 50300000
extern "C" {
using hipUserObject_t = struct hipUserObject*;
constexpr unsigned hipUserObjectNoDestructorSync = 1;
constexpr unsigned hipGraphUserObjectMove = 1;
[[gnu::weak]] hipError_t hipUserObjectCreate(hipUserObject_t* made, void* object, hipHostFn_t ended,
                                             unsigned references, unsigned flags);
[[gnu::weak]] hipError_t hipGraphRetainUserObject(hipGraph_t graph, hipUserObject_t object,
                                                  unsigned references, unsigned flags);
}
#define TELPHER_HIP_KEEPS_OBJECTS (hipUserObjectCreate && hipGraphRetainUserObject)
#else
#define TELPHER_HIP_KEEPS_OBJECTS true
#endif

namespace telpher::device::hip::platform {

/// Opens what the functions below need; on failure returns false and the reason.
bool load(const char*& why) noexcept;

/// Whether the process already runs the driver below HIP. Starts nothing.
bool runs() noexcept;
/// The number of devices that the process will see, found without starting anything.
int visible_devices() noexcept;

/// The link between two devices with peer access.
distance link_between(int device, int peer) noexcept;

/// Whether IPC handles work for this allocation, as far as this is known before one is requested.
bool exportable(const void* address) noexcept;

/// Whether streams can wait for words in pinned memory.
bool streams_wait(int device) noexcept;
/// The device of a stream of the program's.
hipError_t stream_device(hipStream_t s, int& device) noexcept;

/// Device memory for words that other devices and the CPU poll: no cache keeps them from others.
hipError_t malloc_flags(void** address, std::size_t bytes) noexcept;

/// A copy between device memories by the copy engine and not by a vendor's kernel, if the runtime
/// lets us choose.
hipError_t copy_by_engine(void* to, const void* from, std::size_t bytes, hipStream_t s) noexcept;

// --- the CPU's windows, see device::backend ---
status map_for_cpu(const pointer_info& info, void** window) noexcept;
void unmap_for_cpu(void* window) noexcept;
bool windows_write_combined(int device) noexcept;
void order_windows(int device) noexcept;

}  // namespace telpher::device::hip::platform
