// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a node share: processors and devices. Each rank writes what it uses into the
// header of its own segment, and the others read it there. Which device a rank uses is known only
// when it first moves something there: a rank may see one device or all devices of the node,
// whoever uses them.
//
// Protocol. `cpus` is written before the ranks of the node first meet, and does not change. An
// entry of `devices` is written once, by its owner, before the store(release) to `device_count`
// that makes it visible. Readers load(acquire) the count. A count never decreases.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "memory/memory.hpp"
#include "path/slot.hpp"

namespace telpher::path {

class neighbours {
 public:
  /// Writes the processors that this thread may run on.
  static void write_cpus(segment_header& own) noexcept;
  /// Whether some of these ranks must share processors: more ranks are bound to a set of processors
  /// than the set has.
  static bool crowded(const std::vector<const segment_header*>& all);

  neighbours(segment_header& own, std::vector<const segment_header*> others)
      : own_(own), others_(std::move(others)) {}

  /// Announces that this rank uses the device. Returns whether no other rank has announced it.
  bool alone_on(const device::device_uuid& device) noexcept;

 private:
  segment_header& own_;
  std::vector<const segment_header*> others_;
  std::mutex guard_;  // collectives call from any thread
};

/// This rank's object, for path/ and coll/; set while the progress engine runs, else null.
void set_neighbours(neighbours* n) noexcept;
/// Whether a kernel of this rank may wait on a device without delaying another rank's kernels: no
/// other rank has announced that it uses the device, or the device runs kernels of several
/// processes concurrently. Also announces that this rank uses it.
bool may_wait_on(const memory::place& where) noexcept;

/// The runtime's properties of a device, asked once; all zero if it reports none.
device::device_properties properties_of(const memory::place& where) noexcept;
inline device::device_uuid uuid_of(const memory::place& where) noexcept {
  return properties_of(where).uuid;
}

/// The device that has it, if this process sees that.
std::optional<memory::place> place_of(device::backend* owner,
                                      const device::device_uuid& uuid) noexcept;

}  // namespace telpher::path
