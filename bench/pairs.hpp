// SPDX-License-Identifier: BSD-3-Clause
// Pairs of ranks that exchange messages, measured: what of the timing of an exchange becomes one
// message's figure, and what one plain copy of the same bytes takes.
#pragma once

#include <vector>

#include "exchange.hpp"
#include "figure.hpp"

namespace telpher::bench {

/// Collective over the active ranks; each gets the same figures, one for each mode.
std::vector<figure> measure(memory_source& source, const pairing& pair, const shape& s,
                            const std::vector<mode>& modes, const plan& p);

/// The same bytes by one plain copy in one process, from leader's kind to peer's kind of memory and
/// from one's device to the other's, one copy at a time; seconds, 0 where it says nothing.
double copy_limit(memory_source& source, const pairing& pair, const shape& s, double min_time);

}  // namespace telpher::bench
