// SPDX-License-Identifier: BSD-3-Clause
// The ranges of host memory that receives which have not settled write to. They are recorded so
// that every ticket is read before other bytes overwrite it. A ticket for a large host buffer lies
// in the program's buffer until it is read. Programs should not have two receives into the same
// memory at a time, but benchmarks do. Without this record the second message could overwrite the
// ticket of the first, and the first message's sender would wait for ever.
//
// Rules, kept by landing.cpp, receive.cpp and redeem.cpp:
// - Before the host MPI or a device may write to a receive's host buffer, the receive enters its
//   range. A receive with a landing buffer from which the CPU copies need not enter (most small
//   ones).
// - If the range overlaps that of another receive that has entered and not settled, the host MPI
//   must not write there. The receive gets a landing buffer, unless no ticket can come
//   (`shared_places` in slot.hpp).
// - A receive in place that overlapped none is `exposed` from when it is posted until its ticket is
//   read, or no ticket can come any more. A receive that overlaps an exposed one is written by the
//   CPU only. Just before that, the CPU looks for a ticket in the exposed one's place and keeps it
//   apart (receive::keep_ticket). To ask the host MPI would not be enough: it delivers messages in
//   every call, so it may deliver a ticket right after its answer. Another thread that is inside
//   the host MPI may still deliver a ticket between the look and the write. Only programs that
//   receive into the same memory twice at a time can meet that.
//
// Ranges that overlap are merged into a region, which stays until all of them have left. The range
// of a type with gaps goes from its first byte to its last. So of two receives whose types
// interleave one gets a landing buffer. That costs no more than the host MPI's own buffer does.
// All functions are called under the progress lock.
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

  /// Enters a range, which must not be empty. True if it overlaps one that was entered and has not
  /// left. If it overlaps none and `exposes` is set, it is exposed at once.
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
  /// `exposed`: whether the range is still exposed.
  void leave(const range& r, bool exposed = false) {
    const auto at = of(r);
    if (exposed) --at->second.exposed, --all_exposed_;
    if (--at->second.members == 0) erase(at);
  }
  void expose(const range& r) { ++of(r)->second.exposed, ++all_exposed_; }
  void cover(const range& r) { --of(r)->second.exposed, --all_exposed_; }
  bool any_exposed() const noexcept { return all_exposed_ > 0; }
  /// Whether an exposed range may overlap this one, which must not be empty but need not have been
  /// entered.
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
  // Every large receive in place calls this: the map's nodes are kept for the next receives instead
  // of being freed and allocated again.
  map::iterator erase(map::iterator at) {
    const auto next = std::next(at);
    if (spare_.size() < most_spare)
      spare_.push_back(regions_.extract(at));
    else
      regions_.erase(at);
    return next;
  }
  // The hint is the end, because receives are mostly posted in the order of their addresses.
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
