// SPDX-License-Identifier: BSD-3-Clause
// How it is timed: equal batches of iterations, the batches of all modes taken in turn so that what
// disturbs the machine disturbs all of them, the median and the best batch reported.
#pragma once

#include <string>
#include <vector>

#include "exchange.hpp"

namespace telpher::bench {

enum class checking { none, once, every };

struct plan {
  int batches = 11;
  long iterations = 0;     // in all, for each size and mode; 0: as many as min_time takes
  long warm_up = -1;       // -1: a tenth of min_time
  double min_time = 0.25;  // seconds of timed iterations for each size and mode
  checking check = checking::none;
};

struct figure {
  double us = 0;      // one message: one way for latency, its share of the window for the others
  double us_min = 0;  // the same of the best batch
  double rate = 0;    // messages a second, all pairs and directions
  double gbps = 0;    // 1e9 bytes a second, all pairs and directions
  std::string path = "-";
  bool checked = false;
  bool right = true;
};

/// Collective over the active ranks; each gets the same figures, one for each mode.
std::vector<figure> measure(memory_source& source, const pairing& pair, const shape& s,
                            const std::vector<mode>& modes, const plan& p);

/// The same bytes by one plain copy in one process, from leader's kind to peer's kind of memory and
/// from one's device to the other's, one copy at a time; seconds, 0 where it says nothing.
double copy_limit(memory_source& source, const pairing& pair, const shape& s, double min_time);

double median(std::vector<double> values);

}  // namespace telpher::bench
