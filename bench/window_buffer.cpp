// SPDX-License-Identifier: BSD-3-Clause
#include "window_buffer.hpp"

#include <algorithm>
#include <cstring>

namespace telpher::bench {

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::size_t slot_alignment = 256;
constexpr auto guard = std::byte{0xa5};

// One step of a mixing function whose output bits each depend on all input bits.
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

window_buffer::window_buffer(memory_source& source, kind k, std::size_t bytes, int slots)
    : source_(source),
      kind_(k),
      bytes_(bytes),
      stride_((bytes + guard_bytes + slot_alignment - 1) / slot_alignment * slot_alignment),
      slots_(slots),
      address_(
          static_cast<std::byte*>(source.allocate(k, stride_ * static_cast<std::size_t>(slots)))) {
  for (int i = 0; i < slots_; ++i) write(i, 0);  // touches every page before anything is timed
}

window_buffer::~window_buffer() {
  source_.release(kind_, address_);
}

void window_buffer::expect(std::uint64_t seed) {
  expected_.resize(bytes_ + guard_bytes, guard);
  fill_pattern({expected_.data(), bytes_}, seed);
}

void window_buffer::write(int index, std::uint64_t seed) {
  expect(seed);
  source_.copy(slot(index), expected_.data(), expected_.size());
}

bool window_buffer::holds(int index, std::uint64_t seed, std::string& wrong) {
  expect(seed);
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

}  // namespace telpher::bench
