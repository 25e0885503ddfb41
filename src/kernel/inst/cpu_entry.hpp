// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernel/bodies.hpp"
#include "kernel/cpu.hpp"

namespace telpher::kernel {

template <class Parameters, class Body>
constexpr cpu_kernel cpu_entry(const char* name, Body) noexcept {
  return {name, sizeof(Parameters), [](const void* parameters, unsigned block, unsigned blocks) {
            Body()(work(block, blocks), *static_cast<const Parameters*>(parameters));
          }};
}

}  // namespace telpher::kernel

/// The cpu_kernel of the kernel `name`.
#define TELPHER_CPU_ENTRY(name) \
  cpu_entry<name>(#name, [](const work& w, const name& parameters) { name##_body(w, parameters); })
