// SPDX-License-Identifier: BSD-3-Clause
// Whether blocking calls of one operation and size class go by a schedule between nodes or are
// staged, where that depends on the network and the host MPI (ways.def). Staged is a call also
// where the host MPI gets device memory, which it may (coll/handover.hpp). The first calls go both
// ways in turn; the way whose best time is the shorter has all later ones. The time of the slowest
// rank counts: ranks tell each other their best times in the vote before a call (ways.cpp), so they
// choose alike. The best of some times, because a call may also have waited for a late rank, and
// the first call of a way makes what later ones find.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace telpher::coll::between {

class trials {
 public:
  enum class way : std::uint8_t { schedule, staged };
  /// Of each way the best time in ns; 0: none is known.
  using times = std::array<std::int64_t, 2>;

  /// `of_each`: calls by each way before the choice.
  explicit trials(int of_each = 3) noexcept : of_each_(of_each) {}

  /// The way of a call that begins, and counts it. `slowest`: of all ranks' best times.
  way next(const times& slowest) noexcept {
    if (begun_ < 2 * of_each_) return static_cast<way>(begun_++ % 2);
    if (!known_) chosen_ = faster(slowest);
    known_ = true;
    return chosen_;
  }
  std::optional<way> chosen() const noexcept {
    return known_ ? std::optional(chosen_) : std::nullopt;
  }

  const times& best() const noexcept { return best_; }
  std::int64_t& best(way w) noexcept { return best_[static_cast<std::size_t>(w)]; }

 private:
  /// A way that no rank knows a time of failed each time.
  static way faster(const times& t) noexcept {
    return t[0] > 0 && (t[1] == 0 || t[0] <= t[1]) ? way::schedule : way::staged;
  }

  int of_each_;
  bool known_ = false;
  way chosen_ = way::staged;
  int begun_ = 0;
  times best_{};
};

}  // namespace telpher::coll::between
