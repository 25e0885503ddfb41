// SPDX-License-Identifier: BSD-3-Clause
// The checks of the demonstration: device buffers are passed to MPI calls that programs use, and
// every byte is compared. Each check is collective over MPI_COMM_WORLD and prints one line on rank
// 0.
#pragma once

#include "memory.hpp"

namespace telpher::bench {

struct tally {
  int right = 0;
  int wrong = 0;
};

/// Runs all checks; needs at least two ranks. The tally is the same on all ranks.
tally run_demo_checks(memory_source& source);

}  // namespace telpher::bench
