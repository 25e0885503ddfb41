// SPDX-License-Identifier: BSD-3-Clause
// The CPU's windows into device memory, where the device has them: opened once for an allocation
// and kept while it lives (the generation tells). See device::backend::map_for_cpu.
#pragma once

#include "memory/memory.hpp"

namespace telpher::memory {

/// The CPU's address of `info`'s byte at `address`, or null if the device has no such windows.
std::byte* window(const place& p, const device::pointer_info& info, const void* address) noexcept;

/// Closes all windows; part of shut_down.
void release_windows() noexcept;

}  // namespace telpher::memory
