// SPDX-License-Identifier: BSD-3-Clause
// Telpher's kernels for one place, as SYCL kernel objects. The plug-in contains the source in
// src/kernel as text, in units. SYCL's run-time compiler compiles a unit at the first launch of one
// of its kernels, which takes seconds; the result is kept on disk (kernel_store.hpp). Each
// reduction is compiled separately, because programs use few of them. If a file of kernels compiled
// ahead of time, libtelpher-sycl-<unit>.syclbin, lies beside the plug-in and its code runs on the
// device, it is used instead.
#pragma once

#include <sycl/kernel.hpp>

#include "device/sycl/places.hpp"
#include "kernel/kernel.hpp"

namespace telpher::device::sycl {

/// The kernel, or null if SYCL has none of that name (kernels that poll the host). Compiles at the
/// first call for a place. A reduction's kernel runs programs that consist of reductions of plain
/// memory. Throws what SYCL throws.
const ::sycl::kernel* kernel_of(const place& where, kernel::id k);

std::size_t parameter_bytes(kernel::id k) noexcept;

}  // namespace telpher::device::sycl
