// SPDX-License-Identifier: BSD-3-Clause
// Memory from CUDA's driver, opened at run time: the kinds of allocation that differ in how they
// can be exported, and the copy call of the staged baseline on CUDA.
#pragma once

#include <memory>
#include <string>

#include "memory.hpp"

namespace telpher::bench {

/// `allocation`: "malloc", "async", "vmm", "vmm-fd" or "vmm-fd-pieces". Null, and the reason in
/// `why`, if there is no CUDA device.
std::unique_ptr<memory_source> open_cuda_memory(const std::string& allocation, std::string& why);

/// Makes the device current on this thread if possible; if not, open_cuda_memory reports why.
void use_cuda_device(int device);

/// The device's name, or "" without CUDA.
std::string cuda_device_name(int device);

}  // namespace telpher::bench
