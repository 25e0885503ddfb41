// SPDX-License-Identifier: BSD-3-Clause
// The output: a table or CSV on stdout, and one JSON document with all rows and the circumstances
// of the measurement. Only rank 0 has a report.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exchange.hpp"
#include "figure.hpp"
#include "memory.hpp"

namespace telpher::bench {

/// One line of the JSON document.
struct row {
  std::string test;
  std::string kinds;
  std::string mode;
  std::size_t bytes = 0;
  figure found;
  double limit = 0;        // seconds of one plain copy; 0: not measured
  int from = -1, to = -1;  // ranks, in a matrix
};

/// What a table shows in addition to the figures of each mode.
struct columns {
  std::string test;
  std::string kinds;
  std::vector<mode> modes;
  bool time = true;  // microseconds; otherwise megabytes per second
  bool rate = false;
  bool bus = false;  // algorithm and bus bandwidth
  bool overlap = false;
  bool limit = false;
  bool full = false;  // fastest and slowest rank, iterations
  std::vector<double> percentiles;
  bool csv = false;
};
columns columns_of(test t, const std::string& kinds, const std::vector<mode>& modes);

/// The circumstances of the measurement, collected over all ranks.
using facts = std::vector<std::pair<std::string, std::string>>;  // name, JSON value
facts collect_facts(MPI_Comm comm, memory_source& source);

/// The name of the host MPI: the first line of its version text.
std::string mpi_version();

std::string json_text(const std::string& text);
void write_json(const std::string& file, const facts& about, const std::vector<row>& rows);

void print_head(const columns& c);
/// Prints the rows of one size, one for each mode in the order of the head.
void print_rows(const columns& c, const std::vector<row>& rows);

}  // namespace telpher::bench
