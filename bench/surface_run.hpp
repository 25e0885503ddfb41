// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of surface.hpp: what stands beside each, its sizes, and one size after the other.
#pragma once

#include "run.hpp"

namespace telpher::bench {

/// As run_pairs and run_collective.
std::vector<row> run_surface(const options& o, memory_source& source, progress& along);

}  // namespace telpher::bench
