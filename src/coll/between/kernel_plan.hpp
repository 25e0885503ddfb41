// SPDX-License-Identifier: BSD-3-Clause
// A rank's schedule between nodes as steps of one kernel, to which the host is one more rank.
// Ranks are places in the node, and the host has the last one. It has pinned memory in the place of
// scratch space (for messages that leave) and of an input (for those that come). Each message has a
// place of its own there.
//
//   send     a copy to the message's place, and a signal to the host
//   receive  a wait for the host, and a copy from the message's place
//
// The kernel's blocks each do a slice of every step, and know of each other's slices only by waits
// (kernel/exchange.hpp). A schedule counts on more: before a message all slices are done, so steps
// behind it may use other spans (coll/schedule/schedule.hpp). So there are two more kinds of steps:
//
//   a signal to the host before a receive. The host answers when all blocks have sent it.
//   a wait for the own rank, where all blocks meet: before a step whose spans overlap others that
//     were used since all blocks met, and before a signal to a rank that may use other spans.
//
// That this is enough is proved for all algorithms by test/unit/coll/kernel_plan.cpp.
#pragma once

#include <vector>

#include "coll/schedule/schedule.hpp"

namespace telpher::coll::between {

struct kernel_plan {
  struct message {
    bool leaves;              // or comes
    std::int32_t peer;        // of the communicator
    std::uint64_t at, count;  // elements of pinned memory
    std::uint64_t after;      // signals to the host that come before it
  };
  schedule steps;
  std::vector<message> messages;          // in the order of the schedule
  std::uint64_t leaving = 0, coming = 0;  // elements of pinned memory
};

/// `node`: the ranks of the own node, ascending. `in_place`: the input lies in the output. Places
/// of messages begin at multiples of `granule`. May throw std::bad_alloc.
kernel_plan plan_for_kernel(const schedule& s, const std::vector<std::int32_t>& node, bool in_place,
                            std::uint64_t granule);

}  // namespace telpher::coll::between
