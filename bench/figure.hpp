// SPDX-License-Identifier: BSD-3-Clause
// The reported result for one size and mode, in the units in which it is printed and written.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "measure.hpp"

namespace telpher::bench {

struct figure {
  double us = 0;      // one message (one way for latency, its share of a window), or one collective
  double us_min = 0;  // the same, of the best batch
  double us_fastest_rank = 0, us_slowest_rank = 0;
  long iterations = 0;
  std::vector<std::pair<double, double>> percentiles;  // percent, microseconds
  double rate = 0;  // messages per second, all pairs and directions
  double gbps = 0;  // 1e9 bytes per second: all pairs and directions, or a collective's algorithm
                    // bandwidth
  double bus_gbps = 0;  // collectives
  double overlap = -1;  // percent of a non-blocking collective hidden by computing; -1: unknown
  double us_overlapped = 0;  // start, compute, wait
  double us_compute = 0;
  std::string path = "-";
  bool checked = false;
  bool right = true;
};

/// The figure of any timing, for one of the `parts` of an iteration.
figure common_figure(const timing& t, const plan& p, double parts);

}  // namespace telpher::bench
