// SPDX-License-Identifier: BSD-3-Clause
// From which size on a collective between nodes runs by schedules without a setting.
#pragma once

#include <cstddef>
#include <string_view>

namespace mpi_test {

/// Bytes of the longest vector; 0: at no size.
struct between_sizes {
  std::size_t tried_from, least, later_from;
};
inline between_sizes sizes_between(std::string_view operation) {
  constexpr std::size_t never = 0;
#define TELPHER_BETWEEN(name, tried_from, least, later_from, measured) \
  if (operation == #name) return {tried_from, least, later_from};
#include "coll/between/ways.def"
#undef TELPHER_BETWEEN
  return {never, never, never};
}
inline std::size_t later_between(std::string_view operation) {
  return sizes_between(operation).later_from;
}

}  // namespace mpi_test
