// SPDX-License-Identifier: BSD-3-Clause
// The buffers of one side of an exchange: several slots in one allocation, each followed by guard
// bytes that no message may touch, and the patterns that fill and check them byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "layout.hpp"
#include "memory.hpp"

namespace telpher::bench {

/// Fills with a pattern in which every byte depends on the seed and its position.
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed) noexcept;

class window_buffer {
 public:
  /// `blocks`, if given, are the positions of the pattern in a slot; the gaps between them hold
  /// guard bytes as well.
  window_buffer(memory_source& source, kind k, std::size_t bytes, int slots,
                const std::vector<layout::block>* blocks = nullptr);
  ~window_buffer();
  window_buffer(const window_buffer&) = delete;
  window_buffer& operator=(const window_buffer&) = delete;

  void* slot(int index) const noexcept {
    return address_ + static_cast<std::size_t>(index % slots_) * stride_;
  }
  int slots() const noexcept { return slots_; }
  std::size_t bytes() const noexcept { return bytes_; }

  /// Writes the pattern of `seed` and the guard into a slot.
  void write(int index, std::uint64_t seed);
  /// Whether the slot and its guard hold exactly that; if not, `wrong` names the first wrong byte.
  bool holds(int index, std::uint64_t seed, std::string& wrong);
  /// The same with the caller's bytes.
  void write(int index, std::span<const std::byte> bytes);
  bool holds(int index, std::span<const std::byte> bytes, std::string& wrong);

 private:
  void expect(std::uint64_t seed);
  void expect(std::span<const std::byte> bytes);
  void write_expected(int index);
  bool holds_expected(int index, std::string& wrong);

  memory_source& source_;
  kind kind_;
  std::size_t bytes_;
  std::size_t stride_;
  int slots_;
  std::byte* address_;
  const std::vector<layout::block>* blocks_;
  std::vector<std::byte> expected_;
  std::vector<std::byte> found_;
};

}  // namespace telpher::bench
