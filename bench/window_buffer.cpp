// SPDX-License-Identifier: BSD-3-Clause
#include "window_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace telpher::bench {

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::size_t slot_alignment = 256;
constexpr auto guard = std::byte{0xa5};

// A mixing function: each output bit depends on all input bits.
std::uint64_t mix(std::uint64_t x) noexcept {
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 29)) * 0xd6e8feb86659fd93ull;
  return x ^ (x >> 32);
}

}  // namespace

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) noexcept {
  const std::uint64_t start = mix(seed + 1);
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    const std::uint64_t word = mix(start + at);
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
  }
}

window_buffer::window_buffer(memory_source& source, kind k, std::size_t bytes, int slots,
                             const std::vector<layout::block>* blocks)
    : source_(source),
      kind_(k),
      bytes_(bytes),
      stride_((bytes + guard_bytes + slot_alignment - 1) / slot_alignment * slot_alignment),
      slots_(slots),
      address_(
          static_cast<std::byte*>(source.allocate(k, stride_ * static_cast<std::size_t>(slots)))),
      blocks_(blocks) {
  for (int i = 0; i < slots_; ++i) write(i, 0);  // touches every page before timing starts
}

window_buffer::~window_buffer() {
  source_.release(kind_, address_);
}

// The pattern of the packed message, without the gaps.
void window_buffer::expect(std::uint64_t seed) {
  if (!blocks_) {
    expected_.resize(bytes_ + guard_bytes, guard);
    fill_pattern({expected_.data(), bytes_}, seed);
    return;
  }
  std::size_t packed_bytes = 0;
  for (const layout::block& b : *blocks_) packed_bytes += b.bytes;
  std::vector<std::byte> packed(packed_bytes);
  fill_pattern(packed, seed);
  expected_.assign(bytes_ + guard_bytes, guard);
  std::size_t done = 0;
  for (const layout::block& b : *blocks_) {
    std::copy_n(packed.data() + done, b.bytes, expected_.data() + b.at);
    done += b.bytes;
  }
}

void window_buffer::expect(std::span<const std::byte> bytes) {
  expected_.assign(bytes.begin(), bytes.end());
  expected_.resize(bytes_ + guard_bytes, guard);
}

void window_buffer::write_expected(int index) {
  source_.copy(slot(index), expected_.data(), expected_.size());
}

bool window_buffer::holds_expected(int index, std::string& wrong) {
  found_.resize(expected_.size());
  source_.copy(found_.data(), slot(index), found_.size());
  if (std::memcmp(found_.data(), expected_.data(), found_.size()) == 0) return true;
  const auto at = static_cast<std::size_t>(
      std::mismatch(found_.begin(), found_.end(), expected_.begin()).first - found_.begin());
  wrong = at < bytes_ ? "byte " + std::to_string(at) + " of " + std::to_string(bytes_)
                      : "guard byte " + std::to_string(at - bytes_) + " behind the buffer";
  wrong += " is " + std::to_string(std::to_integer<int>(found_[at])) + " and should be " +
           std::to_string(std::to_integer<int>(expected_[at]));
  return false;
}

void window_buffer::write(int index, std::uint64_t seed) {
  expect(seed);
  write_expected(index);
}

bool window_buffer::holds(int index, std::uint64_t seed, std::string& wrong) {
  expect(seed);
  return holds_expected(index, wrong);
}

void window_buffer::write(int index, std::span<const std::byte> bytes) {
  expect(bytes);
  write_expected(index);
}

bool window_buffer::holds(int index, std::span<const std::byte> bytes, std::string& wrong) {
  expect(bytes);
  return holds_expected(index, wrong);
}

}  // namespace telpher::bench
