// SPDX-License-Identifier: BSD-3-Clause
// From which size on a collective between nodes runs by schedules without a setting.
#pragma once

#include <cstddef>
#include <string_view>

namespace mpi_test {

/// Bytes of the longest vector; 0: at no size.
inline std::size_t least_between(std::string_view operation) {
  constexpr std::size_t never = 0;
#define TELPHER_BETWEEN(name, least, measured) \
  if (operation == #name) return least;
#include "coll/between/ways.def"
#undef TELPHER_BETWEEN
  return never;
}

}  // namespace mpi_test
