// SPDX-License-Identifier: BSD-3-Clause
// This process's own shared segment, for tests that look into the protocol or disturb it.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "path/slot.hpp"

namespace mpi_test {

/// The segment's header, mapped once more (a page, to be unmapped); null if there is none.
inline telpher::path::segment_header* own_segment() {
  for (int i = 0; i < 1024; ++i) {
    char path[64], name[64] = "";
    std::snprintf(path, sizeof path, "/proc/self/fd/%d", i);
    if (readlink(path, name, sizeof name - 1) < 0 ||
        std::string_view(name).find("memfd:telpher ") == std::string_view::npos)
      continue;
    void* at = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, i, 0);
    return at == MAP_FAILED ? nullptr : static_cast<telpher::path::segment_header*>(at);
  }
  return nullptr;
}

}  // namespace mpi_test
