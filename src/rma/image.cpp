// SPDX-License-Identifier: BSD-3-Clause
#include "rma/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace telpher::rma {
namespace {

constexpr std::size_t block_bytes = std::size_t{4} << 20;
// Bytes that were written near each other go to the device in one copy.
constexpr std::size_t piece_bytes = 4096;
// In units of this many bytes it is found out where operations wrote. A device copies as many in
// little more than the time that a copy takes to begin.
constexpr std::size_t part_bytes = std::size_t{64} << 10;

}  // namespace

image::~image() {
  std::free(last_);
}

status image::start(const memory::place& where, std::byte* device, std::size_t bytes) noexcept {
  where_ = where, device_ = device, bytes_ = bytes;
  last_ = static_cast<std::byte*>(std::malloc(bytes));
  if (!last_) return status::out_of_memory;
  TELPHER_TRY(memory::buffer::host(std::min(bytes, block_bytes), where.owner, true).into(block_));
  return memory::copy_and_wait(where, last_, device, bytes);
}

void image::lie_over(std::byte* public_copy) noexcept {
  public_ = public_copy;
  std::memcpy(public_, last_, bytes_);
}

status image::merge() noexcept {
  const std::lock_guard lock(guard_);
  for (std::size_t first = 0; first < bytes_; first += block_bytes)
    TELPHER_TRY(merge_block(first, std::min(block_bytes, bytes_ - first)));
  return status::ok;
}

bool image::written(std::size_t first) const noexcept {
  const std::size_t n = std::min(part_bytes, bytes_ - first);
  return std::memcmp(public_ + first, last_ + first, n) != 0;
}

status image::merge_written(bool& found) noexcept {
  const std::lock_guard lock(guard_);
  for (std::size_t first = 0; first < bytes_;) {
    std::size_t end = first;
    while (end < bytes_ && end - first < block_bytes && written(end)) end += part_bytes;
    if (end > first) {
      found = true;
      TELPHER_TRY(merge_block(first, std::min(end, bytes_) - first));
    }
    first = std::max(end, first + part_bytes);
  }
  return status::ok;
}

status image::merge_block(std::size_t first, std::size_t bytes) noexcept {
  auto* const block = static_cast<std::byte*>(block_.data());
  TELPHER_TRY(memory::copy_and_wait(where_, block, device_ + first, bytes));
  range open{0, 0};
  const auto write_open = [&]() noexcept {
    return memory::copy_and_wait(where_, device_ + first + open.first, block + open.first,
                                 open.end - open.first);
  };
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const std::size_t n = std::min(piece_bytes, bytes - at);
    std::byte* const last = last_ + first + at;
    if (std::memcmp(public_ + first + at, last, n) == 0 && std::memcmp(block + at, last, n) == 0)
      continue;
    const range r = merge_bytes(first, at, n);
    if (r.first == r.end) continue;
    if (at + r.first > open.end + piece_bytes) {
      TELPHER_TRY(write_open());
      open.first = at + r.first;
    }
    open.end = at + r.end;
  }
  return write_open();
}

// Of the piece at `at` of the block that begins at `first`: puts into the block what the device
// must hold, and returns which part of the piece is new there.
image::range image::merge_bytes(std::size_t first, std::size_t at, std::size_t bytes) noexcept {
  auto* const mine = static_cast<std::byte*>(block_.data()) + at;
  auto* const shown = public_ + first + at;
  auto* const before = last_ + first + at;
  std::byte seen[piece_bytes];
  std::memcpy(seen, shown, bytes);
  range changed{bytes, 0};
  for (std::size_t i = 0; i < bytes; ++i) {
    std::byte& last = before[i];
    if (seen[i] != last) {
      mine[i] = last = seen[i];
      changed.first = std::min(changed.first, i);
      changed.end = i + 1;
    } else if (mine[i] != last) {
      shown[i] = last = mine[i];
    }
  }
  return changed.end == 0 ? range{0, 0} : changed;
}

}  // namespace telpher::rma
