// SPDX-License-Identifier: BSD-3-Clause
// A range of addresses, and where a mapped library or program lies.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstdint>

namespace telpher {

struct address_range {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;  // one past
  bool holds(std::uintptr_t a) const noexcept { return a - first < last - first; }
};

/// From the first to the last loaded byte of an object that dl_iterate_phdr reports.
inline address_range mapped(const dl_phdr_info& object) noexcept {
  address_range all{UINTPTR_MAX, 0};
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t at = object.dlpi_addr + segment.p_vaddr;
    all.first = std::min(all.first, at);
    all.last = std::max(all.last, at + segment.p_memsz);
  }
  return all.last ? all : address_range{};
}

}  // namespace telpher
