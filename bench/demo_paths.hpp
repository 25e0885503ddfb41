// SPDX-License-Identifier: BSD-3-Clause
// The demonstration's table of paths: for messages and allreduces of a few sizes, how their bytes
// moved, in words.
#pragma once

#include "memory.hpp"

namespace telpher::bench {

/// Collective over MPI_COMM_WORLD; needs at least two ranks; rank 0 prints.
void show_paths(memory_source& source);

}  // namespace telpher::bench
