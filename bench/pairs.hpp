// SPDX-License-Identifier: BSD-3-Clause
// Measures pairs of ranks that exchange messages: converts the timing of an exchange to the figure
// of one message, and measures a plain copy of the same bytes.
#pragma once

#include <vector>

#include "exchange.hpp"
#include "figure.hpp"

namespace telpher::bench {

/// Collective over the active ranks. Each gets the same figures, one for each mode.
std::vector<figure> measure(memory_source& source, const pairing& pair, const shape& s,
                            const std::vector<mode>& modes, const plan& p);

/// The time of one plain copy of the same bytes in one process, from the leader's kind of memory
/// and device to the peer's; one copy at a time. In seconds; 0 if such a copy says nothing.
double copy_limit(memory_source& source, const pairing& pair, const shape& s, double min_time);

}  // namespace telpher::bench
