// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/cpu.hpp"

#include "kernel/bodies.hpp"

namespace telpher::kernel {

const cpu_kernel& cpu_kernel_of(id k) noexcept {
  static constexpr cpu_kernel table[] = {
#define TELPHER_KERNEL(name)                                                          \
  {#name, sizeof(name), [](const void* parameters, unsigned block, unsigned blocks) { \
     name##_body(work(block, blocks), *static_cast<const name*>(parameters));         \
   }},
#include "kernel/kernel.def"
#undef TELPHER_KERNEL
  };
  static_assert(sizeof table / sizeof table[0] == static_cast<std::size_t>(id::count_));
  return table[static_cast<int>(k)];
}

}  // namespace telpher::kernel
