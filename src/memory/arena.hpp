// SPDX-License-Identifier: BSD-3-Clause
// First-fit allocator over a range of offsets; freed neighbours are merged. Used for the staging
// part of a rank's shared segment. Only the owner of the segment allocates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace telpher::memory {

class arena {
 public:
  arena() = default;
  arena(std::uint64_t first, std::uint64_t bytes) { free_[first] = bytes; }

  std::optional<std::uint64_t> take(std::uint64_t bytes) noexcept {
    bytes = rounded(bytes);
    for (auto f = free_.begin(); f != free_.end(); ++f) {
      if (f->second < bytes) continue;
      const std::uint64_t at = f->first;
      const std::uint64_t rest = f->second - bytes;
      free_.erase(f);
      if (rest) free_[at + bytes] = rest;
      return at;
    }
    return std::nullopt;
  }

  void give(std::uint64_t at, std::uint64_t bytes) noexcept {
    bytes = rounded(bytes);
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + bytes == next->first) {
      bytes += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += bytes;
        return;
      }
    }
    free_[at] = bytes;
  }

 private:
  static constexpr std::uint64_t grain = 4096;
  static std::uint64_t rounded(std::uint64_t n) { return (n + grain - 1) / grain * grain; }

  std::map<std::uint64_t, std::uint64_t> free_;  // offset → bytes
};

}  // namespace telpher::memory
