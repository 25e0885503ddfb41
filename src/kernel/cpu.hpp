// SPDX-License-Identifier: BSD-3-Clause
// The kernels as functions of this process, run one block at a time; the emulated device launches
// them.
#pragma once

#include "kernel/kernel.hpp"

namespace telpher::kernel {

struct cpu_kernel {
  const char* name;
  std::size_t parameter_bytes;
  void (*run_block)(const void* parameters, unsigned block, unsigned blocks);
};

const cpu_kernel& cpu_kernel_of(id k) noexcept;

/// The same for a codec's kernel. The host decodes by them, and carries no others.
cpu_kernel cpu_codec_of(id k) noexcept;

}  // namespace telpher::kernel
