// SPDX-License-Identifier: BSD-3-Clause
#include "path/measured_choice.hpp"

#include <algorithm>

namespace telpher::path {
namespace {

constexpr std::size_t medium = std::size_t{64} << 10, large = std::size_t{1} << 20;

}  // namespace

measured_choice::ways& measured_choice::ways_for(std::size_t bytes) noexcept {
  return classes_[bytes < medium ? 0 : bytes < large ? 1 : 2];
}

// The two ways alternate until both are known, even if that takes more messages than the trials:
// many messages may start before the first has ended.
measured_choice::way measured_choice::next(std::size_t bytes) noexcept {
  ways& w = ways_for(bytes);
  if (w[first].known >= trials && w[second].known >= trials)
    return w[first].best_ns_per_byte <= w[second].best_ns_per_byte ? first : second;
  const way chosen = w[first].begun <= w[second].begun ? first : second;
  ++w[chosen].begun;
  return chosen;
}

void measured_choice::learn(std::size_t bytes, way chosen, std::uint64_t ns) noexcept {
  if (bytes == 0) return;
  record& r = ways_for(bytes)[chosen];
  const double cost = static_cast<double>(ns) / static_cast<double>(bytes);
  r.best_ns_per_byte = r.known == 0 ? cost : std::min(r.best_ns_per_byte, cost);
  ++r.known;
}

}  // namespace telpher::path
