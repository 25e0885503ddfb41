// SPDX-License-Identifier: BSD-3-Clause
// Where the program has put managed memory, as far as a driver says: the last prefetch, else the
// preferred location. Pages that the other side touches migrate without a word. Then a device still
// gets at them, only slower, and on a system where it could not, nothing is ever put on a device.
#pragma once

#include "base/settings.hpp"

namespace telpher::device::gpurt {

constexpr int no_location = -2;  // in CUDA and in HIP; other numbers below 0 are the host's

/// `ask(attribute, location)` is false where the driver does not say. `ordinal` is written if the
/// memory lies on a device.
template <class Attribute, class Ask>
bool lies_on_device(Attribute last_prefetch, Attribute preferred, const Ask& ask,
                    int& ordinal) noexcept {
  if (config().managed == "host") return false;
  for (const Attribute asked : {last_prefetch, preferred}) {
    int location = no_location;
    if (!ask(asked, location)) return false;
    if (location == no_location) continue;
    if (location < 0) return false;
    ordinal = location;
    return true;
  }
  return false;
}

}  // namespace telpher::device::gpurt
