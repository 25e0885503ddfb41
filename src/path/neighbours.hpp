// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node have in common: processors and devices. Each writes what it uses into
// the header of its own segment, where the others read it. Which device a rank uses is known only
// when it first moves something there: a rank may see one device or all of the node's, whoever uses
// them.
//
// Protocol. `cpus` is written before the ranks of the node first meet, and stands. An entry of
// `devices` is written once, by its owner, before the store(release) to `device_count` that makes
// it visible; readers load(acquire) the count. A count never falls.
#pragma once

#include <mutex>
#include <vector>

#include "memory/memory.hpp"
#include "path/slot.hpp"

namespace telpher::path {

class neighbours {
 public:
  /// Writes the processors that this thread may run on.
  static void write_cpus(segment_header& own) noexcept;
  /// Whether some of these ranks must share processors: more of them may run only on a set of
  /// processors than that has.
  static bool crowded(const std::vector<const segment_header*>& all);

  neighbours(segment_header& own, std::vector<const segment_header*> others)
      : own_(own), others_(std::move(others)) {}

  /// Says that this rank uses the device, and answers whether no other one has said so.
  bool alone_on(const device::device_uuid& device) noexcept;

 private:
  segment_header& own_;
  std::vector<const segment_header*> others_;
  std::mutex guard_;  // collectives ask from any thread
};

/// Between the engine's start and stop: this rank's, for all of path/ and coll/; else null.
void set_neighbours(neighbours* n) noexcept;
/// Whether a kernel of this rank may wait on a device of this process without holding up another
/// rank's: no other one has said that it uses the device, or the device runs the kernels of several
/// processes side by side. Says that this rank uses it.
bool may_wait_on(const memory::place& where) noexcept;

/// What the runtime says of a device, asked once; zeros where it tells nothing.
device::device_properties properties_of(const memory::place& where) noexcept;
inline device::device_uuid uuid_of(const memory::place& where) noexcept {
  return properties_of(where).uuid;
}

}  // namespace telpher::path
