// SPDX-License-Identifier: BSD-3-Clause
// What a collective's schedules would cost on a machine: a discrete-event run of all ranks' steps
// with queues at links, ports, memories and NICs. A model: it ranks algorithms and shows their
// shape over sizes and rank counts; it does not predict a measurement to the percent.
#pragma once

#include <cstdint>
#include <functional>

#include "schedules/machine.hpp"
#include "coll/schedule/problem.hpp"

namespace telpher::coll {

/// How the ranks of all nodes relate, so that one node's ranks can stand for all of them.
enum class symmetry : std::uint8_t {
  none,      // every rank is simulated
  shifted,   // node n does what node 0 does, with all nodes shifted by n round the ring
  mirrored,  // node n does what node 0 does, with all nodes' numbers xor n
};

struct pricing {
  double bytes_per_element = 4;
  double compression = 1;  // messages between nodes shrink by this; 1: no codec runs
  symmetry nodes = symmetry::none;
};

using maker = std::function<schedule(const problem& p, std::int32_t rank)>;

/// Time until the last rank is done, in microseconds. Ranks fill nodes of m.gpus one after the
/// other, as p.node_of must say. Negative: the schedules do not end (the verifier says why).
double simulate(const problem& p, const maker& make, const machine& m, const pricing& how);

}  // namespace telpher::coll
