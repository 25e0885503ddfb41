// SPDX-License-Identifier: BSD-3-Clause
// Symbolic values: which ranks' elements were reduced, in which order and with which brackets. Two
// values are the same expression if and only if they have the same number, so equal numbers at all
// ranks mean equal bits.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace telpher::coll {

using value_id = std::int32_t;

class value_table {
 public:
  struct run {  // ranks first to last, ascending
    std::int32_t first;
    std::int32_t last;
  };

  /// Values 0 to ranks - 1 are the ranks' own elements.
  explicit value_table(std::int32_t ranks) {
    for (std::int32_t r = 0; r < ranks; ++r) contributions_.push_back({{r, r}});
  }

  value_id leaf(std::int32_t rank) const noexcept { return rank; }

  /// a op b
  value_id combine(value_id a, value_id b) {
    const auto [found, fresh] = combined_.try_emplace({a, b}, static_cast<value_id>(size()));
    if (fresh) {
      std::vector<run> runs = contributions(a);
      for (const run& next : contributions(b)) append(runs, next);
      contributions_.push_back(std::move(runs));
    }
    return found->second;
  }

  /// Contributions from the left to the right.
  const std::vector<run>& contributions(value_id v) const noexcept {
    return contributions_[static_cast<std::size_t>(v)];
  }

 private:
  std::size_t size() const noexcept { return contributions_.size(); }
  static void append(std::vector<run>& runs, const run& next) {
    if (!runs.empty() && runs.back().last + 1 == next.first)
      runs.back().last = next.last;
    else
      runs.push_back(next);
  }

  std::vector<std::vector<run>> contributions_;
  std::map<std::pair<value_id, value_id>, value_id> combined_;
};

/// Some elements of one value: element i is of element origin + i of the contributing inputs.
struct part {
  std::uint64_t count = 0;
  value_id value = -1;
  std::uint64_t origin = 0;
};

/// What a span holds, from its first element on.
using content = std::vector<part>;

/// Appends elements [offset, offset + count) of `from`; joins parts that continue each other.
void append(content& to, const content& from, std::uint64_t offset, std::uint64_t count);

/// a op b, element by element; false if elements of different places meet.
bool combine(value_table& values, content& a, const content& b);

}  // namespace telpher::coll
