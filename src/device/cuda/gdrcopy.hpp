// SPDX-License-Identifier: BSD-3-Clause
// CPU windows into an NVIDIA GPU's memory, through GDRCopy. Its library is opened at the first
// request and needs its kernel module. If either is missing, one line is logged and there are no
// windows. This file does not depend on CUDA, so a test can replace the library on a machine
// without a GPU.
#pragma once

#include "base/status.hpp"
#include "device/types.hpp"

namespace telpher::device::cuda::gdrcopy {

/// The address of info.base in a write-combined mapping of the whole allocation. not_supported if
/// there is no GDRCopy; out_of_memory if this allocation cannot be mapped.
result<void*> map(const pointer_info& info) noexcept;
void unmap(void* window) noexcept;

}  // namespace telpher::device::cuda::gdrcopy
