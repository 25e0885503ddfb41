// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/inst/cpu_entry.hpp"

namespace telpher::kernel {

cpu_kernel cpu_codec_of(id k) noexcept {
  switch (k) {
#define TELPHER_KERNEL(name)
#define TELPHER_CODEC_KERNEL(name) \
  case id::name:                   \
    return TELPHER_CPU_ENTRY(name);
#include "kernel/kernel.def"
#undef TELPHER_CODEC_KERNEL
#undef TELPHER_KERNEL
    default:
      return {};
  }
}

}  // namespace telpher::kernel
