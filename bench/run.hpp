// SPDX-License-Identifier: BSD-3-Clause
// Runs the tests of the command line: one size after the other, each printed as soon as it is
// measured. All functions are collective over MPI_COMM_WORLD; rank 0 prints and gets all rows.
#pragma once

#include <vector>

#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"

namespace telpher::bench {

std::vector<row> run_pairs(const options& o, memory_source& source, progress& along);
std::vector<row> run_collective(const options& o, memory_source& source, progress& along);
std::vector<row> run_matrix(const options& o, memory_source& source, progress& along);

/// What every table of a run has.
std::string kinds_of(const options& o);
void set_options(columns& c, const options& o);

/// The sizes to measure.
std::vector<std::size_t> sizes(const options& o);

}  // namespace telpher::bench
