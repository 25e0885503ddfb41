// SPDX-License-Identifier: BSD-3-Clause
// The CPU's windows into an NVIDIA GPU's memory, through GDRCopy: its library is opened at the
// first request and needs its kernel module. Without either there is one line on the log and no
// window. Knows nothing of CUDA, so that a test without one can stand a library of its own behind
// it.
#pragma once

#include "base/status.hpp"
#include "device/types.hpp"

namespace telpher::device::cuda::gdrcopy {

/// The address of info.base in a write-combined mapping of the whole allocation. not_supported
/// where there is no GDRCopy; out_of_memory where this allocation cannot be mapped.
result<void*> map(const pointer_info& info) noexcept;
void unmap(void* window) noexcept;

}  // namespace telpher::device::cuda::gdrcopy
