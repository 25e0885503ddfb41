// SPDX-License-Identifier: BSD-3-Clause
// Proves a collective's schedules right for one problem, by running all ranks on symbols. Only
// signal, wait, send and receive order the ranks, and each wait belongs to exactly one signal. So
// the partial order is the same whatever the timing, and one run proves all of them. Checked:
//   - every output element holds every contribution exactly once, from the right place, in rank
//     order unless the operation commutes, with the same brackets at every rank of an allreduce;
//   - of two accesses to one element of which one writes, one happens before the other (vector
//     clocks), and both are made through the same span (so the executor may cut spans into slices);
//   - no rank touches a peer's spaces before a signal of that peer has reached it, directly or
//     through other ranks, unless all ranks share one node (schedule.hpp, Order);
//   - no rank ends while a peer may still touch its spaces;
//   - nothing of input or output is changed that need not be;
//   - peers reach input and output only if they are mapped, and only inside their node;
//   - every wait and receive ends, and every signal and message is taken, even if each message
//     leaves only when its receiver asks for it.
#pragma once

#include <string>
#include <vector>

#include "coll/schedule/problem.hpp"

namespace telpher::coll {

/// The first mistake, as a sentence; empty if there is none. `all` holds the schedule of each rank.
std::string verify(const problem& p, const std::vector<schedule>& all);

}  // namespace telpher::coll
