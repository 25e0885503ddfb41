// SPDX-License-Identifier: BSD-3-Clause
// What HIP itself does not say, or says differently on AMD's and NVIDIA's hardware. amd.cpp and
// on_cuda/nvidia.cpp implement it; the build takes one of them. Everything else of the back end is
// the same source for both.
#pragma once

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__  // the header of on_cuda/ does not look at it
#endif
#include <hip/hip_runtime_api.h>

#include "base/status.hpp"
#include "device/types.hpp"

namespace telpher::device::hip::platform {

/// Opens what the functions below need; false, with the reason, where that is not possible.
bool load(const char*& why) noexcept;

/// Whether the process runs the driver below HIP already. Starts nothing.
bool runs() noexcept;
/// Devices that the process will see, told without starting anything.
int visible_devices() noexcept;

/// Of two devices with peer access.
distance link_between(int device, int peer) noexcept;

/// Whether the vendor's inter-process handles work for this allocation, as far as it can be known
/// before one is made.
bool exportable(const void* address) noexcept;

/// Device memory for words that other devices and the CPU poll: no cache keeps them from others.
hipError_t malloc_flags(void** address, std::size_t bytes) noexcept;

/// A copy between device memories by the copy engine, not by a kernel of the vendor's, where the
/// runtime can be told.
hipError_t copy_by_engine(void* to, const void* from, std::size_t bytes, hipStream_t s) noexcept;

// --- the CPU's windows, see device::backend ---
status map_for_cpu(const pointer_info& info, void** window) noexcept;
void unmap_for_cpu(void* window) noexcept;
bool windows_write_combined(int device) noexcept;
void order_windows(int device) noexcept;

}  // namespace telpher::device::hip::platform
