// SPDX-License-Identifier: BSD-3-Clause
#include "path/block_plan.hpp"

#include <algorithm>

#include "base/settings.hpp"

namespace telpher::path {
namespace {

constexpr std::size_t alignment = 256;  // blocks start at multiples: full-width copies

std::size_t round_up(std::size_t n) {
  return (n + alignment - 1) / alignment * alignment;
}

}  // namespace

block_plan::block_plan(std::size_t bytes, std::size_t block_bytes, std::size_t blocks,
                       std::size_t threshold, bool even) noexcept
    : bytes_(bytes) {
  if (blocks == 0) blocks = (bytes + block_bytes - 1) / block_bytes;
  if (bytes <= threshold) blocks = 1;
  block_ = round_up(std::max<std::size_t>(2 * alignment, (bytes + blocks - 1) / blocks));
  // All middle blocks have the same length; the first may be half a block; the last has the rest.
  first_ = even ? block_ : round_up(block_ / 2);
  if (blocks == 1 || bytes <= first_) {
    count_ = 1;
    return;
  }
  const std::size_t middle = (bytes - first_ + (even ? block_ - 1 : 0)) / block_;
  count_ = 1 + std::max<std::size_t>(1, std::min(middle, blocks - 1));
}

block_plan block_plan::of(std::size_t bytes) noexcept {
  const settings& s = config();
  return {bytes, s.staged_block, static_cast<std::size_t>(s.test_staged_blocks), s.staged_threshold,
          s.test_staged_shape == "even"};
}

block_plan block_plan::from(std::size_t bytes, const numbers& told) noexcept {
  const auto [count, block, first] = told;
  const bool cuts = count > 1 && block > 0 && first > 0 && first < bytes &&
                    count - 2 <= (bytes - first - 1) / block;
  return count == 1 || cuts ? block_plan(bytes, told) : block_plan(bytes, numbers{});
}

std::size_t block_plan::offset(std::size_t block) const noexcept {
  return block == 0 ? 0 : first_ + (block - 1) * block_;
}

std::size_t block_plan::size(std::size_t block) const noexcept {
  const std::size_t end = block + 1 == count_ ? bytes_ : offset(block + 1);
  return end - offset(block);
}

std::size_t block_plan::largest() const noexcept {
  std::size_t longest = size(count_ - 1);
  longest = std::max(longest, size(0));
  return count_ > 2 ? std::max(longest, block_) : longest;
}

}  // namespace telpher::path
