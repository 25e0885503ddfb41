// SPDX-License-Identifier: BSD-3-Clause
// First-fit allocation of address space by offset: used for the heap of an emulated device and for
// the import area. Not thread-safe; the owner locks.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>

namespace telpher::device::emu {

class range_pool {
 public:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  explicit range_pool(std::size_t bytes = 0) {
    if (bytes) free_[0] = bytes;
  }

  /// The lowest offset where `bytes` fit, or none.
  std::size_t take(std::size_t bytes) {
    for (auto at = free_.begin(); at != free_.end(); ++at) {
      if (at->second < bytes) continue;
      const auto [offset, size] = *at;
      free_.erase(at);
      if (size > bytes) free_[offset + bytes] = size - bytes;
      return offset;
    }
    return none;
  }

  void give(std::size_t offset, std::size_t bytes) {
    auto at = free_.emplace(offset, bytes).first;
    if (const auto next = std::next(at); next != free_.end() && offset + bytes == next->first) {
      at->second += next->second;
      free_.erase(next);
    }
    if (at == free_.begin()) return;
    const auto previous = std::prev(at);
    if (previous->first + previous->second != offset) return;
    previous->second += at->second;
    free_.erase(at);
  }

 private:
  std::map<std::size_t, std::size_t> free_;  // offset, bytes; neighbours merged
};

}  // namespace telpher::device::emu
