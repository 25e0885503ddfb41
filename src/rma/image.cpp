// SPDX-License-Identifier: BSD-3-Clause
#include "rma/image.hpp"

#include <algorithm>
#include <cstdint>
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

struct range {
  std::size_t first, end;
};

template <class Word>
Word load(const std::byte* from) noexcept {
  Word w;
  std::memcpy(&w, from, sizeof w);
  return w;
}

/// Writes the bytes of a word that differ between `now` and `before`, and no others: an operation
/// may write those meanwhile. Most words differ in all bytes, or in all of a half.
template <class Word, class Half, class... Smaller>
void store_changed(std::byte* to, const std::byte* now, const std::byte* before) noexcept {
  const Word x = load<Word>(now) ^ load<Word>(before);
  if (x == 0) return;
  constexpr Word ones = static_cast<Word>(~Word{0}) / 0xff, highs = ones << 7;
  const bool has_zero_byte = ((x - ones) & ~x & highs) != 0;
  if (!has_zero_byte) {
    std::memcpy(to, now, sizeof(Word));
  } else if constexpr (sizeof(Half) == 1) {
    for (std::size_t i = 0; i < sizeof(Word); ++i)
      if (now[i] != before[i]) to[i] = now[i];
  } else {
    store_changed<Half, Smaller...>(to, now, before);
    store_changed<Half, Smaller...>(to + sizeof(Half), now + sizeof(Half), before + sizeof(Half));
  }
}

/// Shows what the program stored in a piece in which no operation wrote.
void show_piece(std::byte* shown, const std::byte* mine, std::byte* last,
                std::size_t bytes) noexcept {
  std::size_t i = 0;
  for (; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t))
    store_changed<std::uint64_t, std::uint32_t, std::uint16_t, std::uint8_t>(shown + i, mine + i,
                                                                             last + i);
  for (; i < bytes; ++i)
    if (mine[i] != last[i]) shown[i] = mine[i];
  std::memcpy(last, mine, bytes);
}

/// Takes what operations wrote in a piece in which the program stored nothing. Returns the new
/// part.
range take_piece(const std::byte* seen, std::byte* mine, std::byte* last,
                 std::size_t bytes) noexcept {
  range changed{0, bytes};
  while (changed.first < bytes && seen[changed.first] == last[changed.first]) ++changed.first;
  if (changed.first == bytes) return {0, 0};  // they have written again what was there before
  while (seen[changed.end - 1] == last[changed.end - 1]) --changed.end;
  std::memcpy(mine, seen, bytes);
  std::memcpy(last, seen, bytes);
  return changed;
}

range merge_bytes(std::byte* shown, const std::byte* seen, std::byte* mine, std::byte* last,
                  std::size_t bytes) noexcept {
  range changed{bytes, 0};
  for (std::size_t i = 0; i < bytes; ++i) {
    if (seen[i] != last[i]) {
      mine[i] = last[i] = seen[i];
      changed.first = std::min(changed.first, i);
      changed.end = i + 1;
    } else if (mine[i] != last[i]) {
      shown[i] = last[i] = mine[i];
    }
  }
  return changed.end == 0 ? range{0, 0} : changed;
}

/// The device could not be given a range of a block. There the next merge takes the image again:
/// no byte of it is as it was.
void take_again(const range& r, const std::byte* block, std::byte* last) noexcept {
  for (std::size_t i = r.first; i < r.end; ++i) last[i] = ~block[i];
}

/// Merges a piece: `shown` public, `mine` private, `last` both after the last merge. The result is
/// in `mine`; returns what the device lacks. Reads the image once.
range merge_piece(std::byte* shown, std::byte* mine, std::byte* last, std::size_t bytes) noexcept {
  const bool stored = std::memcmp(mine, last, bytes) != 0;
  if (std::memcmp(shown, last, bytes) == 0) {
    if (stored) show_piece(shown, mine, last, bytes);
    return {0, 0};
  }
  std::byte seen[piece_bytes];
  std::memcpy(seen, shown, bytes);
  return stored ? merge_bytes(shown, seen, mine, last, bytes) : take_piece(seen, mine, last, bytes);
}

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
  const auto write_open = [&](const range& merged) noexcept {
    const status s = memory::copy_and_wait(where_, device_ + first + open.first, block + open.first,
                                           open.end - open.first);
    if (failed(s))
      for (const range& r : {open, merged}) take_again(r, block, last_ + first);
    return s;
  };
  for (std::size_t at = 0; at < bytes; at += piece_bytes) {
    const range r = merge_piece(public_ + first + at, block + at, last_ + first + at,
                                std::min(piece_bytes, bytes - at));
    if (r.first == r.end) continue;
    if (at + r.first > open.end + piece_bytes) {
      TELPHER_TRY(write_open({at + r.first, at + r.end}));
      open.first = at + r.first;
    }
    open.end = at + r.end;
  }
  return write_open({0, 0});
}

}  // namespace telpher::rma
