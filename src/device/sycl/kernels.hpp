// SPDX-License-Identifier: BSD-3-Clause
// Telpher's kernels for one place, as SYCL kernel objects. The one source in src/kernel lies in the
// plug-in as text, in units that SYCL's run-time compiler compiles at the first launch of one of
// their kernels (seconds), and that are then kept on disk (kernel_store.hpp). Of the reductions
// each is compiled by itself: programs use few of them. A file of kernels compiled ahead of time
// beside the plug-in, libtelpher-sycl-<unit>.syclbin, is taken first where its code runs on the
// device.
#pragma once

#include <sycl/kernel.hpp>

#include "device/sycl/places.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device::sycl {

/// The kernel, or null where SYCL has none of that name (kernels that poll the host). Compiles at
/// the first call for a place. A reduction's kernel runs programs of reductions of plain memory.
/// Throws what SYCL throws.
const ::sycl::kernel* kernel_of(const place& where, kernel::id k);

std::size_t parameter_bytes(kernel::id k) noexcept;

}  // namespace telpher::device::sycl
