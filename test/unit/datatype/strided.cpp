// SPDX-License-Identifier: BSD-3-Clause
// What a receiver believes of a shape that another process describes.
#include "datatype/strided.hpp"

#include "check.hpp"

using telpher::datatype::strided;

namespace {

constexpr std::uint64_t base = 1 << 20, size = 1 << 16;

/// Three planes of four rows of two blocks of 16 bytes; two elements of them, 4096 apart.
strided good() {
  return {.block_bytes = 16,
          .counts = {2, 4, 3},
          .unit = 8,
          .strides = {32, 128, 1024},
          .extent = 4096};
}
constexpr std::uint64_t bytes = 2ull * 2 * 4 * 3 * 16;
constexpr std::uint64_t reach = 32 + 3 * 128 + 2 * 1024 + 4096 + 16;

bool taken(const strided& s, std::uint64_t address = base, std::uint64_t length = bytes) {
  return s.within(address, length, base, size);
}

TEST_CASE(a_shape_inside_its_allocation_is_taken) {
  CHECK(taken(good()));
  CHECK(taken(good(), base + size - reach));
  strided s = good();
  s.strides[2] = -1024;
  CHECK(taken(s, base + 2 * 1024));
}

TEST_CASE(one_that_leaves_it_is_not) {
  CHECK(!taken(good(), base + size - reach + 8));
  CHECK(!taken(good(), base - 8));
  strided s = good();
  s.strides[2] = -1024;
  CHECK(!taken(s, base + 2 * 1024 - 8));
  s = good();
  s.extent = INT64_MIN;
  CHECK(!taken(s));
}

TEST_CASE(numbers_that_make_no_sense_are_not) {
  const auto with = [](auto change) {
    strided s = good();
    change(s);
    return taken(s);
  };
  CHECK(!with([](strided& s) { s.unit = 0; }));
  CHECK(!with([](strided& s) { s.unit = 3; }));
  CHECK(!with([](strided& s) { s.block_bytes = 0; }));
  CHECK(!with([](strided& s) { s.block_bytes = 12; }));
  CHECK(!with([](strided& s) { s.counts[1] = 0; }));
  CHECK(!with([](strided& s) { s.counts[0] = s.counts[1] = s.counts[2] = 0x7fffffff; }));
  CHECK(!with([](strided& s) { s.strides[0] = 36; }));
  CHECK(!with([](strided& s) { s.extent = 4092; }));
  CHECK(!taken(good(), base, 0));
  CHECK(!taken(good(), base, bytes - 16));
  CHECK(!taken(good(), base, std::uint64_t{1} << 40));
}

TEST_CASE(the_common_unit_is_the_largest_that_divides_all) {
  using telpher::datatype::common_unit;
  CHECK_EQ(common_unit(0), 16u);
  CHECK_EQ(common_unit(48), 16u);
  CHECK_EQ(common_unit(48 | 8), 8u);
  CHECK_EQ(common_unit(4), 4u);
  CHECK_EQ(common_unit(64 | 2), 0u);
}

}  // namespace
