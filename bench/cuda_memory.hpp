// SPDX-License-Identifier: BSD-3-Clause
// Memory from CUDA's driver, opened at run time: the kinds of allocation that differ in how they
// can be exported, and the copy call that the staged baseline uses on CUDA.
#pragma once

#include <memory>
#include <string>

#include "memory.hpp"

namespace telpher::bench {

/// `allocation`: "malloc", "async", "vmm" or "vmm-fd"; null, with `why`, where there is no CUDA
/// device.
std::unique_ptr<memory_source> open_cuda_memory(const std::string& allocation, std::string& why);

/// Makes the device current on this thread, if it can; open_cuda_memory says why it cannot.
void use_cuda_device(int device);

/// The device's name, or "" without CUDA.
std::string cuda_device_name(int device);

}  // namespace telpher::bench
