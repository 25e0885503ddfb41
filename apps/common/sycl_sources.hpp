// SPDX-License-Identifier: BSD-3-Clause
// The kernels' text for SYCL's run-time compiler; embed_sources.cmake writes the definitions.
#pragma once

#include <span>

namespace apps {

struct source_file {
  const char* name;  // as #include names it
  const char* text;
};

std::span<const source_file> kernel_headers();
const char* kernel_unit();

}  // namespace apps
