// SPDX-License-Identifier: BSD-3-Clause
// The kernels as a GPU back end launches them. Each plug-in holds one instantiation (inst/gpu.inl,
// compiled by its vendor's compiler); answers are the vendor's error codes.
#pragma once

#include "kernel/kernel.hpp"

namespace telpher::kernel {

/// Launches on the current device, in the vendor's stream.
int gpu_launch(id k, const void* parameters, int blocks, int threads, void* stream) noexcept;

/// Loads all kernels on the current device, so that no later launch waits for that.
int gpu_load() noexcept;

}  // namespace telpher::kernel
