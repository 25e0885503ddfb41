// SPDX-License-Identifier: BSD-3-Clause
// The kernels for SYCL that copy and pack. SYCL's kernel compiler compiles them at run time from
// the text in the plug-in, or icpx ahead of time.
#define TELPHER_COMPILE_SYCL 1
#include "kernel/copy_batch.hpp"
#include "kernel/pack_blocks.hpp"
#include "kernel/sycl_kernel.hpp"

namespace telpher::kernel {

#define TELPHER_KERNEL TELPHER_SYCL_KERNEL
#define TELPHER_POLLING_KERNEL(name)
#define TELPHER_CODEC_KERNEL(name)
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

}  // namespace telpher::kernel
