// SPDX-License-Identifier: BSD-3-Clause
// Host side: one copy by a launch of copy_batch, in place of the driver's own choice. It is cut
// into pieces of one block each, which need no counter among them and set no flag: callers wait for
// the stream.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.hpp"

namespace telpher::kernel {

constexpr int one_copy_threads = 512;

/// The parameters of a launch of `count` blocks; bytes > 0.
inline copy_batch one_copy(void* to, const void* from, std::size_t bytes) noexcept {
  constexpr std::size_t capacity = copy_batch::capacity, least = 16 * 1024, line = 256;
  const std::size_t share = std::max(least, (bytes + capacity - 1) / capacity);
  const std::size_t piece = (share + line - 1) / line * line;
  copy_batch k;
  k.count = 0;
  for (std::size_t at = 0; at < bytes; at += piece, ++k.count) {
    k.pieces[k.count] = {static_cast<char*>(to) + at, static_cast<const char*>(from) + at,
                         std::min(piece, bytes - at)};
    k.first_block[k.count] = k.count;
  }
  k.first_block[k.count] = k.count;
  k.done = nullptr;
  k.arrivals = nullptr;
  return k;
}

}  // namespace telpher::kernel
