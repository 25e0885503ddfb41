// SPDX-License-Identifier: BSD-3-Clause
// Where receives that have not settled write in host memory, so that a ticket is read before its
// place is written again. A ticket for a large host buffer lies in the program's buffer until it is
// read. Programs should not receive into one place twice at a time, but benchmarks do, and then
// another message of the same window would cover the ticket: its sender would wait for ever.
//
// Rules, kept by receive.cpp:
// - a receive into whose place the host MPI may write, or a device, enters its range first; one
// that
//   lands and is copied by the CPU does without (most small ones);
// - a receive whose range overlaps that of another one which has entered and not settled does not
//   let the host MPI write there: it lands in memory of ours (unless no ticket can come, see
//   slot.hpp);
// - a receive in place is `exposed` from when it is posted until its ticket is read. Who overlaps
//   an exposed one writes with the CPU only, after it has looked for its ticket in the place itself
//   and kept it apart: to ask the host MPI would not do, which delivers in every call, and the next
//   ticket after the answer. (Another thread inside the host MPI may deliver one between the look
//   and the writing; only programs that receive into one place twice at a time can meet that.)
//
// Ranges that overlap are merged to a region and stay so until all of them have left. A type with
// gaps is represented by all from its first byte to its last: of types that interleave one lands,
// which costs no more than the host MPI's own buffer does.
// Under the lock of the progress engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace telpher::ticket {

class written_ranges {
 public:
  struct range {
    std::uintptr_t first = 0;
    std::uintptr_t end = 0;
    bool empty() const noexcept { return first == end; }
  };

  /// Of a range that is not empty. True if it overlaps one that was entered and has not left; if
  /// not it is exposed at once where `exposes`.
  bool enter(const range& r, bool exposes = false) {
    auto next = regions_.upper_bound(r.first);
    if (next != regions_.begin() && std::prev(next)->second.end > r.first) --next;
    region merged{r.end, 1, 0};
    std::uintptr_t first = r.first;
    bool overlaps = false;
    while (next != regions_.end() && next->first < r.end) {
      first = std::min(first, next->first);
      merged.end = std::max(merged.end, next->second.end);
      merged.members += next->second.members;
      merged.exposed += next->second.exposed;
      overlaps = true;
      next = erase(next);
    }
    if (exposes && !overlaps) merged.exposed = 1, ++all_exposed_;
    insert(first, merged);
    return overlaps;
  }
  /// `exposed`: it still is.
  void leave(const range& r, bool exposed = false) {
    const auto at = of(r);
    if (exposed) --at->second.exposed, --all_exposed_;
    if (--at->second.members == 0) erase(at);
  }
  void expose(const range& r) { ++of(r)->second.exposed, ++all_exposed_; }
  void cover(const range& r) { --of(r)->second.exposed, --all_exposed_; }
  bool any_exposed() const noexcept { return all_exposed_ > 0; }
  /// Of any range that is not empty, entered or not: whether one that may overlap it is exposed.
  bool exposed(const range& r) const noexcept { return any_exposed() && some_exposed(r); }
  std::size_t size() const noexcept { return regions_.size(); }

 private:
  struct region {
    std::uintptr_t end;
    std::size_t members;
    std::size_t exposed;
  };
  using map = std::map<std::uintptr_t, region>;  // disjoint

  bool some_exposed(const range& r) const noexcept {
    auto at = regions_.upper_bound(r.first);
    if (at != regions_.begin() && std::prev(at)->second.end > r.first) --at;
    while (at != regions_.end() && at->first < r.end && at->second.exposed == 0) ++at;
    return at != regions_.end() && at->first < r.end;
  }
  map::iterator of(const range& r) { return std::prev(regions_.upper_bound(r.first)); }
  // Every large receive comes by here: nodes of a window are kept instead of allocated anew.
  map::iterator erase(map::iterator at) {
    const auto next = std::next(at);
    if (spare_.size() < most_spare)
      spare_.push_back(regions_.extract(at));
    else
      regions_.erase(at);
    return next;
  }
  // Mostly behind the last: windows are posted in the order of their addresses.
  void insert(std::uintptr_t first, const region& r) {
    if (spare_.empty()) return static_cast<void>(regions_.emplace_hint(regions_.end(), first, r));
    map::node_type node = std::move(spare_.back());
    spare_.pop_back();
    node.key() = first;
    node.mapped() = r;
    regions_.insert(regions_.end(), std::move(node));
  }

  map regions_;
  static constexpr std::size_t most_spare = 256;
  std::vector<map::node_type> spare_;
  std::size_t all_exposed_ = 0;
};

}  // namespace telpher::ticket
