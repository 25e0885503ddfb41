// SPDX-License-Identifier: BSD-3-Clause
// Blocking calls of one operation and size class between nodes: by a schedule, or staged? Where
// that depends on the network and the host MPI (ways.def), the first calls go both ways in turn.
// All later ones go the way whose best time was shorter. The best time counts because a call may
// have waited for a late rank, and because the first call of a way makes what later ones find.
// Ranks tell each other their best times in the vote before a call (ways.cpp). The slowest rank's
// counts, so all choose alike. A staged call may pass device memory on (coll/handover.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace telpher::coll::between {

class trials {
 public:
  enum class way : std::uint8_t { schedule, staged };
  /// The best time of each way in ns; 0: none is known.
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
  /// Without a time of any rank, the calls of that way have all failed.
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
