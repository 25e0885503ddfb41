// SPDX-License-Identifier: BSD-3-Clause
// The kernels that copy between layouts and contiguous bytes, with several threads per block.
#define CHECK_NO_MAIN
#include <algorithm>

#include "kernel/bodies.hpp"
#include "trial.hpp"

namespace {

template <bool pack>
struct rows_trial {
  // Rows of some bytes, of some cache lines, of many; the same, from within a row to within
  // another.
  static constexpr unsigned variants = 6;
  std::vector<std::int64_t> offset;
  std::vector<std::uint64_t> length, packed_offset;
  bytes layout, packed;
  kernel::pack_blocks parameters{};

  explicit rows_trial(unsigned variant) {
    const std::size_t longest[] = {7, 90, 1500};
    std::uint64_t size = 0, at = 3;
    for (std::size_t row = 0; row < 5; ++row) {
      offset.push_back(static_cast<std::int64_t>(at));
      length.push_back(longest[variant % 3] - row);
      packed_offset.push_back(size);
      size += length.back();
      at += length.back() + row;
    }
    constexpr std::uint64_t elements = 7;
    layout = noise(elements * at + 16, pack ? 5 : 6);
    packed = noise(elements * size, pack ? 6 : 5);
    const bool part = variant >= 3;
    const std::uint64_t first = part ? packed_offset[2] + 1 : 0;
    const std::uint64_t end = part ? 5 * size + packed_offset[3] + 2 : elements * size;
    parameters = {.packed = packed.data(),
                  .base = layout.data(),
                  .first = first,
                  .bytes = end - first,
                  .size = size,
                  .blocks = 5,
                  .is_grid = 0,
                  .unit = 0,
                  .listed = {.offset = offset.data(),
                             .length = length.data(),
                             .packed_offset = packed_offset.data(),
                             .extent = static_cast<std::int64_t>(at),
                             .first_row = part ? 2u : 0u,
                             .rows = part ? 27u : 35u},
                  .from_grid = 0,
                  .other = {}};
  }
  unsigned blocks() const { return 3; }
  bytes result() const { return pack ? packed : layout; }
};

/// A grid of aligned blocks, its last dimension backwards. The packed bytes lie together, or in a
/// grid of longer blocks.
template <bool pack, class V>
struct units_trial {
  // Blocks of one unit and of five; the same from a grid; a part of the first two.
  static constexpr unsigned variants = 6;
  static constexpr std::uint32_t counts[3] = {3, 5, 2};
  static constexpr std::uint64_t elements = 7;
  static constexpr auto unit = static_cast<std::int64_t>(sizeof(V));
  std::vector<kernel::bytes16> layout, packed;
  kernel::pack_blocks parameters{};

  explicit units_trial(unsigned variant) {
    const std::uint32_t of_block = variant % 2 == 0 ? 1 : 5;
    const std::int64_t line = (of_block + 1) * unit, plane = 4 * line, cube = 6 * plane;
    const std::int64_t extent = 2 * cube + unit;
    const std::uint64_t size = 30 * of_block * sizeof(V);
    layout = words(elements * static_cast<std::uint64_t>(extent), pack ? 5 : 6);
    packed = words(2 * elements * size, pack ? 6 : 5);
    parameters.packed = reinterpret_cast<std::uint8_t*>(packed.data());
    parameters.base = reinterpret_cast<std::uint8_t*>(layout.data()) + cube;
    parameters.first = variant >= 4 ? 3 * sizeof(V) : 0;
    parameters.bytes = variant >= 4 ? 4 * size + sizeof(V) : elements * size;
    parameters.size = size;
    parameters.blocks = 30;
    parameters.is_grid = 1;
    parameters.unit = sizeof(V);
    using kernel::divisor;
    parameters.regular = {
        .counts = {divisor::of(counts[0]), divisor::of(counts[1]), divisor::of(counts[2])},
        .strides = {line, plane, -cube},
        .extent = extent,
        .units_of_block = divisor::of(of_block)};
    parameters.from_grid = variant / 2 == 1;
    const std::int64_t apart = (10 * of_block + 2) * unit;
    parameters.other = {.counts = {divisor::of(3), divisor::of(1), divisor::of(1)},
                        .strides = {apart, 0, 0},
                        .extent = 3 * apart + 7 * unit,
                        .units_of_block = divisor::of(10 * of_block)};
  }

  static std::vector<kernel::bytes16> words(std::uint64_t size, unsigned seed) {
    std::vector<kernel::bytes16> w(size / 16 + 1);
    const bytes b = noise(w.size() * 16, seed);
    std::memcpy(w.data(), b.data(), b.size());
    return w;
  }

  unsigned blocks() const { return 3; }
  bytes result() const { return bytes_of(pack ? packed : layout); }
};

/// Messages of several types, whose kernel's blocks are shared out evenly.
struct unpack_all_trial {
  static constexpr unsigned variants = 2;  // one block for each message, and three
  rows_trial<false> messages[3] = {rows_trial<false>(0), rows_trial<false>(1),
                                   rows_trial<false>(2)};
  kernel::unpack_all parameters{};

  explicit unpack_all_trial(unsigned variant) {
    for (std::size_t i = 0; i < 3; ++i) parameters.each[i] = messages[i].parameters;
    parameters.share = variant == 0 ? 1 : 3;
  }
  unsigned blocks() const { return 3 * parameters.share; }
  bytes result() const {
    bytes all;
    for (const auto& m : messages) {
      const bytes one = m.result();
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
};

/// Units of 2, 4 and 8 bytes: aligned, at other distances, and in place.
struct swap_bytes_trial {
  static constexpr std::size_t length = 1000;
  static constexpr unsigned variants = 12;
  unsigned unit, away;
  bool in_place;
  bytes from = noise(length + 16, 3), to = noise(length + 16, 4);
  kernel::swap_bytes parameters{};

  explicit swap_bytes_trial(unsigned variant)
      : unit(2u << variant % 3), away(variant / 3 % 2 * 3), in_place(variant >= 6) {
    std::uint8_t* const target = to.data() + away;
    parameters = {target, in_place ? target : from.data() + 2 * away, length, unit};
  }
  unsigned blocks() const { return 3; }
  bytes result() const { return to; }
};

/// Byte by byte, against what is expected.
void bytes_are_swapped() {
  for (unsigned variant = 0; variant < swap_bytes_trial::variants; ++variant) {
    swap_bytes_trial t(variant);
    const bytes from = t.in_place ? t.to : t.from;
    const std::size_t first = t.in_place ? t.away : 2 * t.away;
    bytes wanted = t.to;
    for (std::size_t i = 0; i < t.length; ++i)
      wanted[t.away + i] = from[first + i / t.unit * t.unit + (t.unit - 1 - i % t.unit)];
    for (unsigned b = 0; b < t.blocks(); ++b)
      kernel::cpu_kernel_of(id::swap_bytes).run_block(&t.parameters, b, t.blocks());
    CHECK(t.to == wanted);
  }
}

void divisors_divide() {
  constexpr std::uint32_t most = (1u << 31) - 1;
  const std::uint32_t edges[] = {1,     2,     3,        4,        5,        6,    7,
                                 12,    34,    641,      1023,     1024,     1025, 65535,
                                 65536, 65537, 1u << 30, most / 3, most - 1, most};
  for (const std::uint32_t by : edges) {
    const auto d = kernel::divisor::of(by);
    const auto check = [&](std::uint32_t n) {
      if (n > most) return;
      const auto q = kernel::divide(n, d);
      CHECK(q.whole == n / by && q.rest == n % by);
    };
    for (const std::uint32_t n : edges)
      for (std::uint32_t near = n - 1; near != n + 2; ++near) check(near);
    for (std::uint64_t n = 0; n <= most; n += 1000003) check(static_cast<std::uint32_t>(n));
    for (std::uint64_t n = by; n <= most; n += std::max<std::uint64_t>(by, 999983) / by * by) {
      check(static_cast<std::uint32_t>(n - 1));
      check(static_cast<std::uint32_t>(n));
    }
  }
}

}  // namespace

void test_pack_blocks() {
  divisors_divide();
  const auto body = [](auto w, auto& p) { kernel::pack_blocks_body(w, p); };
  same_as_one_item<units_trial<true, std::uint32_t>>(id::pack_blocks, "pack_blocks by 4", body);
  same_as_one_item<units_trial<true, std::uint64_t>>(id::pack_blocks, "pack_blocks by 8", body);
  same_as_one_item<units_trial<true, kernel::bytes16>>(id::pack_blocks, "pack_blocks by 16", body);
  same_as_one_item<rows_trial<true>>(id::pack_blocks, "pack_blocks",
                                     [](auto w, auto& p) { kernel::pack_blocks_body(w, p); });
}
void test_unpack_blocks() {
  const auto body = [](auto w, auto& p) { kernel::unpack_blocks_body(w, p); };
  same_as_one_item<units_trial<false, std::uint32_t>>(id::unpack_blocks, "unpack_blocks by 4",
                                                      body);
  same_as_one_item<units_trial<false, kernel::bytes16>>(id::unpack_blocks, "unpack_blocks by 16",
                                                        body);
  same_as_one_item<rows_trial<false>>(id::unpack_blocks, "unpack_blocks",
                                      [](auto w, auto& p) { kernel::unpack_blocks_body(w, p); });
}

void test_unpack_all() {
  same_as_one_item<unpack_all_trial>(id::unpack_all, "unpack_all",
                                     [](auto w, auto& p) { kernel::unpack_all_body(w, p); });
}

void test_swap_bytes() {
  bytes_are_swapped();
  same_as_one_item<swap_bytes_trial>(id::swap_bytes, "swap_bytes",
                                     [](auto w, auto& p) { kernel::swap_bytes_body(w, p); });
}
