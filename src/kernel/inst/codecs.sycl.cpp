// SPDX-License-Identifier: BSD-3-Clause
// The codecs' kernels for SYCL. They are a separate unit, because compiling them takes three times
// as long as the others and few programs compress.
#define TELPHER_COMPILE_SYCL 1
#include "kernel/mpc.hpp"
#include "kernel/sycl_kernel.hpp"
#include "kernel/zfp.hpp"

namespace telpher::kernel {

#define TELPHER_KERNEL(name)
#define TELPHER_POLLING_KERNEL(name)
#define TELPHER_CODEC_KERNEL TELPHER_SYCL_KERNEL
#include "kernel/kernel.def"
#undef TELPHER_KERNEL

}  // namespace telpher::kernel
