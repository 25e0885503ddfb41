// SPDX-License-Identifier: BSD-3-Clause
// Chooses between two ways of moving messages by their measured cost. The first messages of a size
// class try both in turn; later ones take the faster. The best time of a way counts, because a
// message may also have waited for its receiver. Called under the progress lock, as all of path/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace telpher::path {

class measured_choice {
 public:
  enum way { first = 0, second = 1 };
  static constexpr int trials = 4;  // of each way

  /// The way to use for a message that starts now.
  way next(std::size_t bytes) noexcept;
  /// Reports that a message which next() sent one way took `ns`.
  void learn(std::size_t bytes, way w, std::uint64_t ns) noexcept;

 private:
  struct record {
    int begun = 0;
    int known = 0;
    double best_ns_per_byte = 0;
  };
  using ways = std::array<record, 2>;
  ways& ways_for(std::size_t bytes) noexcept;

  std::array<ways, 3> classes_;
};

}  // namespace telpher::path
