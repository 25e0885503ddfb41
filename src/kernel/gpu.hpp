// SPDX-License-Identifier: BSD-3-Clause
// The kernels as a GPU back end launches them. Each plug-in has one instantiation (inst/gpu.inl,
// compiled by its vendor's compiler). The functions return the vendor's error codes.
#pragma once

#include "kernel/kernel.hpp"

namespace telpher::kernel {

/// Launches on the current device, in a stream of the vendor's.
int gpu_launch(id k, const void* parameters, int blocks, int threads, void* stream) noexcept;

/// Loads all kernels on the current device, so that no later launch has to wait for that.
int gpu_load() noexcept;

}  // namespace telpher::kernel
