// SPDX-License-Identifier: BSD-3-Clause
// What a kernel needs that takes a message apart: datatype makes it, path launches it.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"

namespace telpher::datatype {

struct unpack_plan {
  static constexpr int threads = 256;  // of a block
  kernel::unpack_blocks rows;
  std::uint64_t blocks;       // how many have something to do
  std::uint64_t most_blocks;  // that the device runs at a time
};

}  // namespace telpher::datatype
