// SPDX-License-Identifier: BSD-3-Clause
// An allreduce in a ring of all ranks in rank order, with which the simulator compares those in two
// levels. It takes no account of nodes except on its edges: inside a node a rank reads from the
// rank before it, between nodes blocks travel as messages. The library is without it.
#pragma once

#include <vector>

#include "coll/algorithms/catalogue.hpp"

namespace telpher::coll {

/// The catalogue and the ring.
std::vector<algorithm> with_flat_ring();

}  // namespace telpher::coll
