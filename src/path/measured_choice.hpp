// SPDX-License-Identifier: BSD-3-Clause
// Chooses between two ways of doing something by what they were measured to cost. At first both are
// taken in turn, later the cheaper one. The least cost of a way counts, because something may also
// have waited for a peer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace telpher::path {

class measured_choice {
 public:
  enum way { first = 0, second = 1 };
  static constexpr int trials = 4;  // of each way

  /// The way to take now. The two alternate until both are known, even if that takes more than the
  /// trials: many things may begin before the first has ended.
  way next() noexcept {
    if (const auto known = chosen()) return *known;
    const way w = ways_[first].begun <= ways_[second].begun ? first : second;
    ++ways_[w].begun;
    return w;
  }
  /// What something that next() sent one way has cost.
  void learn(way w, double cost) noexcept {
    record& r = ways_[w];
    r.least = r.known == 0 ? cost : std::min(r.least, cost);
    ++r.known;
  }
  std::optional<way> chosen() const noexcept {
    if (ways_[first].known < trials || ways_[second].known < trials) return std::nullopt;
    return least(first) <= least(second) ? first : second;
  }
  double least(way w) const noexcept { return ways_[w].least; }

 private:
  struct record {
    int begun = 0;
    int known = 0;
    double least = 0;
  };
  std::array<record, 2> ways_;
};

/// A choice for messages of each size class.
class choices_by_size {
 public:
  measured_choice& of(std::size_t bytes) noexcept {
    constexpr std::size_t medium = std::size_t{64} << 10, large = std::size_t{1} << 20;
    return classes_[bytes < medium ? 0 : bytes < large ? 1 : 2];
  }

 private:
  std::array<measured_choice, 3> classes_;
};

}  // namespace telpher::path
