// SPDX-License-Identifier: BSD-3-Clause
// The machine that the simulator prices schedules on: equal nodes with GPUs, links between them and
// NICs. Read from a text file, one `key value` a line; share/machines has some.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace telpher::coll {

struct machine {
  static constexpr std::int32_t most_gpus = 16;

  std::int32_t gpus = 0;   // per node
  std::int32_t nics = 0;   // per node; GPU g uses NIC g * nics / gpus
  double pair_gbps = 0;    // between two GPUs, one way
  double port_gbps = 0;    // into or out of one GPU, all peers together
  double memory_gbps = 0;  // reads and writes of one GPU's own memory
  double signal_us = 0;    // until a peer sees a flag
  double launch_us = 0;    // start of the call's kernel
  double handover_us =
      0;                // from the kernel to the host or back, where messages and kernel steps meet
  double nic_gbps = 0;  // one way
  double nic_us = 0;    // latency of a message
  double message_us = 0;  // cost of a message to the rank that sends or receives it
  double encode_gbps = 0;
  double decode_gbps = 0;
  std::array<double, most_gpus* most_gpus> pairs = {};  // 0: pair_gbps

  double between(std::int32_t a, std::int32_t b) const {
    const double own = pairs[static_cast<std::size_t>(a * most_gpus + b)];
    return own > 0 ? own : pair_gbps;
  }
};

/// False if the text is no machine; `error` says why.
bool parse_machine(const std::string& text, machine& m, std::string& error);

}  // namespace telpher::coll
