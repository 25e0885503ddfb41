// SPDX-License-Identifier: BSD-3-Clause
// The emulated node: how many devices, how they are linked. Read from the file that
// TELPHER_EMU_TOPOLOGY names (share/topologies has some); without one, 8 devices, all of them peers
// over a fabric. A line is one of the following; '#' starts a comment; a and b are a device or a
// range like 0-3; a later line overrides an earlier one.
//   devices <count>                        1 to 16; before the lines that name devices
//   name <text>                            the devices' name
//   processors <count>                     of each device
//   numa <a> <node>                        the NUMA node the device is near to
//   bar on|off|wc                          whether the CPU can map device memory; wc: and copies as
//                                          through a write-combined BAR
//   timing on|off                          copies between devices, or a device and the host, take
//                                          as long as their link says (default: off)
//   together on|off                        processes run side by side on a device (default: off)
//   queues <count>                         work queues of a device for the streams of one priority,
//                                          taken in turn; default 0: each stream has its own
//   default <kind> [<GB/s> [<us>]]         every pair of devices
//   graphs words|launches                  whether graphs hold writes of words and waits for them
//                                          (default), or launches and copies alone
//   link <a> <b> <kind> [<GB/s> [<us>]]    both ways; kind: fabric, pcie, none (no peer access)
//   host [<GB/s> [<us>]]                   between a device and host memory
#pragma once

#include <string>

#include "device/types.hpp"

namespace telpher::device::emu {

constexpr int device_limit = 16;

struct link {
  distance kind = distance::fabric;
  double bandwidth_gbps = 0;  // gigabytes per second; 0: as fast as this machine copies
  double latency_us = 0;
};

struct topology {
  int devices = 8;
  std::string device_name = "Telpher emulated device";
  int processors = 8;
  bool cpu_window = true;
  bool window_write_combined = false;
  bool timing = false;
  int queues = 0;
  bool graphs_hold_words = true;
  bool together = false;  // kernels of several processes run concurrently on a device, as under MPS
  int numa[device_limit];
  link host;
  link links[device_limit][device_limit];

  topology();
  /// Parses a description. On an error returns false, and `problem` names the line.
  bool parse(const std::string& text, std::string& problem);

  /// How long a copy takes; 0 if copies are not timed. A negative device is host memory.
  double copy_time_us(int to, int from, std::size_t bytes) const noexcept;

  /// The topology of this process. Read once; errors in the file are logged.
  static const topology& instance() noexcept;
};

}  // namespace telpher::device::emu
