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

}  // namespace

image::~image() {
  std::free(last_);
}

status image::start(const memory::place& where, std::byte* device, std::size_t bytes,
                    std::byte* public_copy) noexcept {
  where_ = where, device_ = device, bytes_ = bytes, public_ = public_copy;
  last_ = static_cast<std::byte*>(std::malloc(bytes));
  if (!last_) return status::out_of_memory;
  TELPHER_TRY(memory::buffer::host(std::min(bytes, block_bytes), where.owner, true).into(block_));
  TELPHER_TRY(memory::copy_and_wait(where, public_, device, bytes));
  std::memcpy(last_, public_, bytes);
  return status::ok;
}

status image::merge() noexcept {
  const std::lock_guard lock(guard_);
  for (std::size_t first = 0; first < bytes_; first += block_bytes)
    TELPHER_TRY(merge_block(first, std::min(block_bytes, bytes_ - first)));
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
    const range r = merge_bytes(first + at, n);
    if (r.first == r.end) continue;
    if (at + r.first > open.end + piece_bytes) {
      TELPHER_TRY(write_open());
      open.first = at + r.first;
    }
    open.end = at + r.end;
  }
  return write_open();
}

// Puts into the block what the device must hold, and returns which part of it is new there.
image::range image::merge_bytes(std::size_t first, std::size_t bytes) noexcept {
  auto* const mine = static_cast<std::byte*>(block_.data()) + first % block_bytes;
  std::byte seen[piece_bytes];
  std::memcpy(seen, public_ + first, bytes);
  range changed{bytes, 0};
  for (std::size_t i = 0; i < bytes; ++i) {
    std::byte& last = last_[first + i];
    if (seen[i] != last) {
      mine[i] = last = seen[i];
      changed.first = std::min(changed.first, i);
      changed.end = i + 1;
    } else if (mine[i] != last) {
      public_[first + i] = last = mine[i];
    }
  }
  return changed.end == 0 ? range{0, 0} : changed;
}

}  // namespace telpher::rma
