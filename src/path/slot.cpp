// SPDX-License-Identifier: BSD-3-Clause
#include "path/slot.hpp"

#include <iterator>

namespace telpher::path {

const char* to_string(slot_state s) noexcept {
  static constexpr const char* names[] = {
      "free",   "preparing",  "coming", "arrived",   "ready",    "claimed", "getting", "staging",
      "staged", "pipe asked", "piping", "put asked", "put done", "refused", "done"};
  const auto i = static_cast<std::size_t>(s);
  return i < std::size(names) ? names[i] : "invalid";
}

}  // namespace telpher::path
