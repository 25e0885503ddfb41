// SPDX-License-Identifier: BSD-3-Clause
// For programs with kernels, one source for every device.
#pragma once

#include <string_view>

#include "suite.hpp"
#include "telpher/device.h"

namespace mpi_test {

/// Before the first kernel. False, which is said, where they were compiled for another device.
inline bool begin_kernels([[maybe_unused]] const suite& s) {
#if defined(TELPHER_DEVICE_EMULATED)
  if (std::string_view(backend_name()) != "emu") {
    if (s.rank == 0)
      std::printf("# left out: kernels, which were compiled for the emulated device\n");
    return false;
  }
#endif
  telpher_use_device();
  return true;
}

}  // namespace mpi_test
