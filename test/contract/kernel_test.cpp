// SPDX-License-Identifier: BSD-3-Clause
// Contract: each kernel, launched on the back end, against a naive reference; and the copy in
// vec.hpp with several workers on the CPU. linger has its own file.
#define CHECK_NO_MAIN
#include "kernel/copy_batch.hpp"

#include <algorithm>

#include "contract.hpp"
#include "kernel/vec.hpp"

namespace contract {
namespace {

TEST_CASE(workers_share_a_span_at_any_alignment) {
  constexpr std::size_t room = 1200;
  for (int round = 0; round < 2000; ++round) {
    const std::size_t size = random_below(round < 1000 ? 40 : 1000);
    const std::size_t a = random_below(64), b = random_below(64), workers = 1 + random_below(40);
    const bytes from = pattern(room, static_cast<unsigned>(round));
    bytes to(room, 0xcc), expected(room, 0xcc);
    for (std::size_t w = 0; w < workers; ++w)
      kernel::copy_span(w, workers, to.data() + b, from.data() + a, size);
    std::memcpy(expected.data() + b, from.data() + a, size);
    REQUIRE(to == expected);
  }
}

/// Random pieces inside one source and one target; targets do not overlap.
struct batch {
  static constexpr std::size_t room = 4 << 20;
  memory from{memory_kind::device, room}, to{memory_kind::device, room};
  memory done{memory_kind::pinned, 4096}, arrivals{memory_kind::device, 4096};
  bytes content = pattern(room, 3), expected = bytes(room, 0x11);
  kernel::copy_batch parameters{};

  void add(std::size_t target, std::size_t source, std::size_t size) {
    parameters.pieces[parameters.count++] = {to.data() + target, from.data() + source, size};
    std::memcpy(expected.data() + target, content.data() + source, size);
  }

  void run(int most_blocks, int threads, std::uint32_t value) {
    const scoped_stream s;
    write(from.data(), content, s);
    write(to.data(), bytes(room, 0x11), s);
    CHECK_OK(subject().fill(arrivals.data(), 0, 4096, s));
    std::memset(done.data(), 0, 4096);
    parameters.done_value = value;
    parameters.done = done.as<std::uint32_t>();
    parameters.arrivals = arrivals.as<std::uint32_t>();
    const int blocks = kernel::deal_blocks(parameters, most_blocks, 4096);
    CHECK_EQ(blocks, parameters.first_block[parameters.count]);
    CHECK(blocks <= std::max(most_blocks, int{parameters.count}));
    CHECK_OK(subject().launch(kernel::id::copy_batch, &parameters, blocks, threads, s));
    for (int i = 0; i < parameters.count; ++i)
      CHECK(eventually([&] { return kernel::load_acquire_system(parameters.done + i) == value; }));
    CHECK_EQ(parameters.done[parameters.count], 0);
    CHECK_OK(subject().synchronise(s));
    CHECK(read(to.data(), room, s) == expected);
    CHECK(read(arrivals.data(), 4096, s) == bytes(4096, 0));
  }
};

TEST_CASE(copy_batch_of_one_empty_piece) {
  batch b;
  b.add(5, 9, 0);
  b.run(1, 256, 1);
}

TEST_CASE(copy_batch_of_one_large_piece_in_many_blocks) {
  batch b;
  b.add(0, 1, batch::room - 1);
  b.run(64, 512, 0xffffffffu);
}

TEST_CASE(copy_batch_of_128_random_pieces) {
  for (const int most_blocks : {1, 200, 500}) {
    batch b;
    constexpr std::size_t slot = batch::room / kernel::copy_batch::capacity;
    for (std::size_t i = 0; i < kernel::copy_batch::capacity; ++i) {
      const std::size_t limits[] = {1, 2, 17, 600, slot - 64};
      const std::size_t size = random_below(limits[random_below(5)] + 1);
      b.add(i * slot + random_below(slot - size), random_below(batch::room - size), size);
    }
    b.run(most_blocks, 128, 77);
  }
}

/// A random layout: rows in random order, of random lengths and gaps, no overlap; or a grid.
struct layout {
  std::uint64_t counts[3] = {};  // of a grid
  std::uint32_t unit = 0;        // by which it is moved
  std::int64_t strides[3] = {};
  std::vector<std::int64_t> offset;
  std::vector<std::uint64_t> length, packed_offset;
  std::uint64_t size = 0;
  std::int64_t extent = 0;

  layout(std::size_t blocks, std::size_t longest) {
    std::size_t at = random_below(10);
    for (std::size_t i = 0; i < blocks; ++i) {
      offset.push_back(static_cast<std::int64_t>(at));
      length.push_back(random_below(longest + 1));
      at += length.back() + random_below(9);
    }
    extent = static_cast<std::int64_t>(at + random_below(5));
    for (std::size_t i = blocks; i > 1; --i) {
      const std::size_t j = random_below(i);
      std::swap(offset[i - 1], offset[j]);
      std::swap(length[i - 1], length[j]);
    }
    pack();
  }

  layout(std::uint64_t rows, std::uint64_t planes, std::uint64_t cubes, std::uint64_t bytes,
         std::uint32_t moved_by = 0)
      : counts{rows, planes, cubes}, unit(moved_by) {
    extent = static_cast<std::int64_t>(bytes);
    for (int d = 0; d < 3; ++d) {
      strides[d] = extent + static_cast<std::int64_t>(random_below(9) * (unit ? unit : 1));
      extent = strides[d] * static_cast<std::int64_t>(counts[d]);
    }
    for (std::uint64_t b = 0; b < rows * planes * cubes; ++b) {
      offset.push_back(static_cast<std::int64_t>(b % rows) * strides[0] +
                       static_cast<std::int64_t>(b / rows % planes) * strides[1] +
                       static_cast<std::int64_t>(b / rows / planes) * strides[2]);
      length.push_back(bytes);
    }
    pack();
  }

  kernel::block_grid regular() const {
    kernel::block_grid g{};
    g.extent = extent;
    for (int d = 0; d < 3; ++d) {
      g.counts[d] = kernel::divisor::of(static_cast<std::uint32_t>(counts[d]));
      g.strides[d] = strides[d];
    }
    if (unit) g.units_of_block = kernel::divisor::of(static_cast<std::uint32_t>(length[0] / unit));
    return g;
  }

  /// The row, of all elements, that holds a packed byte.
  std::uint64_t row_of(std::uint64_t byte) const {
    const auto after = std::upper_bound(packed_offset.begin(), packed_offset.end(), byte % size);
    return byte / size * offset.size() + static_cast<std::uint64_t>(after - packed_offset.begin()) -
           1;
  }

  std::size_t place_of(std::uint64_t byte) const {
    const std::uint64_t b = row_of(byte) % offset.size();
    return static_cast<std::size_t>(offset[b] + static_cast<std::int64_t>(byte / size) * extent) +
           byte % size - packed_offset[b];
  }

  void pack() {
    for (const std::uint64_t l : length) {
      packed_offset.push_back(size);
      size += l;
    }
  }
};

template <class T>
void put(const memory& m, const std::vector<T>& values, device::stream s) {
  CHECK_OK(subject().copy(m.data(), values.data(), values.size() * sizeof(T), s));
  CHECK_OK(subject().synchronise(s));
}

// All but the first unit and the last, so that a part of a row is left out at either end.
void pack_and_unpack_part(kernel::pack_blocks p, const layout& l, const bytes& packed,
                          const bytes& spread, int grid, device::stream s) {
  const std::uint64_t edge = l.unit ? l.unit : 1;
  if (p.bytes < 3 * edge) return;
  p.first = edge;
  p.bytes -= 2 * edge;
  if (!p.is_grid) {
    p.listed.first_row = l.row_of(p.first);
    p.listed.rows = l.row_of(p.first + p.bytes - 1) - p.listed.first_row + 1;
  }
  write(p.packed, bytes(packed.size(), 0x77), s);
  CHECK_OK(subject().launch(kernel::id::pack_blocks, &p, grid, 256, s));
  const bytes found = read(p.packed, packed.size(), s);
  const auto end = static_cast<std::ptrdiff_t>(edge + p.bytes);
  CHECK(std::equal(packed.begin() + static_cast<std::ptrdiff_t>(edge), packed.begin() + end,
                   found.begin()));
  CHECK(std::all_of(found.begin() + end - static_cast<std::ptrdiff_t>(edge), found.end(),
                    [](auto b) { return b == 0x77; }));
  write(p.base, bytes(spread.size(), 0x55), s);
  CHECK_OK(subject().launch(kernel::id::unpack_blocks, &p, grid, 256, s));
  bytes partly = spread;
  for (std::uint64_t k = 0; k < edge; ++k)
    partly[l.place_of(k)] = partly[l.place_of(p.first + p.bytes + k)] = 0x55;
  CHECK(read(p.base, spread.size(), s) == partly);
}

void pack_and_unpack(std::size_t elements, const layout& l, int grid) {
  const std::size_t blocks = l.offset.size();
  const std::size_t shown = elements * static_cast<std::size_t>(l.extent) + 1;
  const std::size_t packed_size = elements * l.size + 1;
  const bytes content = pattern(shown, 5);
  bytes packed(packed_size, 0x77), spread(shown, 0x55);
  for (std::size_t e = 0; e < elements; ++e)
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::size_t at =
          e * static_cast<std::size_t>(l.extent) + static_cast<std::size_t>(l.offset[b]);
      std::memcpy(packed.data() + e * l.size + l.packed_offset[b], content.data() + at,
                  l.length[b]);
      std::memcpy(spread.data() + at, content.data() + at, l.length[b]);
    }
  const scoped_stream s;
  const memory base(memory_kind::device, shown), target(memory_kind::device, packed_size);
  const memory offset(memory_kind::device, blocks * 8 + 8),
      length(memory_kind::device, blocks * 8 + 8),
      packed_offset(memory_kind::device, blocks * 8 + 8);
  put(offset, l.offset, s);
  put(length, l.length, s);
  put(packed_offset, l.packed_offset, s);
  write(base.data(), content, s);
  write(target.data(), bytes(packed_size, 0x77), s);
  kernel::pack_blocks p{
      .packed = target.data(),
      .base = base.data(),
      .first = 0,
      .bytes = elements * l.size,
      .size = l.size,
      .blocks = blocks,
      .is_grid = l.counts[0] != 0,
      .unit = l.unit,
      .listed = {offset.as<std::int64_t>(), length.as<std::uint64_t>(),
                 packed_offset.as<std::uint64_t>(), l.extent, 0, elements * blocks},
      .from_grid = 0,
      .other = {}};
  if (p.is_grid) p.regular = l.regular();
  CHECK_OK(subject().launch(kernel::id::pack_blocks, &p, grid, 256, s));
  CHECK(read(target.data(), packed_size, s) == packed);
  write(base.data(), bytes(shown, 0x55), s);
  CHECK_OK(subject().launch(kernel::id::unpack_blocks, &p, grid, 256, s));
  CHECK(read(base.data(), shown, s) == spread);
  pack_and_unpack_part(p, l, packed, spread, grid, s);
}

void swap(std::uint32_t unit, std::size_t size, std::size_t away, bool in_place) {
  const scoped_stream s;
  const memory from(memory_kind::device, size + 16), to(memory_kind::device, size + 16);
  const bytes content = pattern(size + 16, 7);
  bytes wanted(size + 16, 0x77);
  for (std::size_t i = 0; i < size; ++i)
    wanted[away + i] = content[away + i / unit * unit + (unit - 1 - i % unit)];
  if (in_place) {
    std::copy_n(content.begin(), away, wanted.begin());
    std::copy(content.begin() + static_cast<std::ptrdiff_t>(away + size), content.end(),
              wanted.begin() + static_cast<std::ptrdiff_t>(away + size));
  }
  write(from.data(), content, s);
  write(to.data(), in_place ? content : bytes(size + 16, 0x77), s);
  std::uint8_t* const target = to.data() + away;
  const kernel::swap_bytes p{target, in_place ? target : from.data() + away, size, unit};
  CHECK_OK(subject().launch(kernel::id::swap_bytes, &p, 5, 256, s));
  CHECK(read(to.data(), size + 16, s) == wanted);
}

TEST_CASE(swap_bytes_turns_each_unit) {
  for (const std::uint32_t unit : {2u, 4u, 8u})
    for (const std::size_t size : {std::size_t{8}, std::size_t{24}, std::size_t{80008}})
      for (const std::size_t away : {std::size_t{0}, std::size_t{3}, std::size_t{8}})
        for (const bool in_place : {false, true}) swap(unit, size, away, in_place);
}

TEST_CASE(pack_and_unpack_follow_the_layout) {
  pack_and_unpack(0, {3, 8}, 1);
  pack_and_unpack(1, {0, 8}, 1);
  pack_and_unpack(1, {1, 0}, 1);
  pack_and_unpack(1, {1, 100000}, 4);
  pack_and_unpack(1000, {1, 8}, 3);
  pack_and_unpack(17, {33, 5}, 2);
  pack_and_unpack(9, {40, 700}, 7);
  pack_and_unpack(3, {5, 20000}, 16);
}

TEST_CASE(pack_and_unpack_follow_a_grid) {
  pack_and_unpack(1, {64, 1, 1, 8}, 2);
  pack_and_unpack(5, {7, 3, 1, 36}, 3);
  pack_and_unpack(3, {5, 4, 6, 100}, 7);
  pack_and_unpack(2, {3, 1, 2, 20000}, 16);
}

TEST_CASE(pack_and_unpack_move_a_grid_by_units) {
  for (const std::uint32_t unit : {4u, 8u, 16u}) {
    pack_and_unpack(1, {64, 1, 1, unit, unit}, 2);
    pack_and_unpack(0, {5, 3, 1, unit, unit}, 1);
    pack_and_unpack(5, {7, 3, 1, 9 * unit, unit}, 3);
    pack_and_unpack(3, {5, 4, 6, 7 * unit, unit}, 7);
    pack_and_unpack(2, {3, 1, 2, 1000 * unit, unit}, 16);
  }
}

}  // namespace
}  // namespace contract
