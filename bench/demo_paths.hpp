// SPDX-License-Identifier: BSD-3-Clause
// The demonstration's table of paths: messages and allreduces of a few sizes, and by which path the
// bytes of each moved, in words.
#pragma once

#include "memory.hpp"

namespace telpher::bench {

/// Collective over MPI_COMM_WORLD, of two ranks or more; rank 0 prints.
void show_paths(memory_source& source);

}  // namespace telpher::bench
