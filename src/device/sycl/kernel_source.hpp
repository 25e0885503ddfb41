// SPDX-License-Identifier: BSD-3-Clause
// The text of src/kernel for SYCL's run-time compiler; embed.cmake writes kernel_source.cpp.
#pragma once

#include <span>

namespace telpher::device::sycl {

struct source_file {
  const char* name;  // the name in #include
  const char* text;
};

std::span<const source_file> kernel_headers() noexcept;
/// The texts that are compiled, each as a unit.
std::span<const source_file> kernel_units() noexcept;

}  // namespace telpher::device::sycl
