// SPDX-License-Identifier: BSD-3-Clause
// FNV-1a on words: ranks compare hashes to see whether they have the same.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace telpher {

class word_hash {
 public:
  constexpr word_hash& add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 1099511628211u;
    return *this;
  }
  template <class Words>
  constexpr word_hash& add_all(const Words& words) noexcept {
    for (const auto word : words) add(static_cast<std::uint64_t>(word));
    return *this;
  }
  constexpr word_hash& add_all(std::initializer_list<std::uint64_t> words) noexcept {
    for (const std::uint64_t word : words) add(word);
    return *this;
  }
  constexpr std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 1469598103934665603u;
};

}  // namespace telpher
