// SPDX-License-Identifier: BSD-3-Clause
// Whether a device still works. A stream whose work has failed never writes the word that the proxy
// looks at, so the proxy asks now and then. A kernel that faults ends all work of its process on
// the device. So it is enough to query an event in one of our own streams. The program's streams
// are left alone, because they may be under capture.
#pragma once

#include <vector>

#include "memory/streams.hpp"

namespace telpher::stream {

class health {
 public:
  explicit health(const memory::place& where) noexcept : where_(where) {}
  const memory::place& where() const noexcept { return where_; }
  /// Whether the device has failed. Does not wait: one call records the event, later ones query it.
  bool failed() noexcept;

 private:
  memory::place where_;
  memory::pooled_event asked_;  // recorded, and not known to be done
};

/// Those of which something is waited for.
class watched_devices {
 public:
  void watch(const memory::place& where);
  /// Asks each one.
  std::vector<memory::place> failed();
  void clear() noexcept { all_.clear(); }

 private:
  std::vector<health> all_;
};

}  // namespace telpher::stream
