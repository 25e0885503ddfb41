// SPDX-License-Identifier: BSD-3-Clause
// The plan by which both ends cut a message. For all numbers the blocks cover the message exactly
// and in order, and no block is longer than a slot of the ring.
#include "path/block_plan.hpp"

#include "check.hpp"

using telpher::path::block_plan;

namespace {

constexpr std::size_t kibibyte = 1024;

bool covers(const block_plan& p, std::size_t bytes) {
  std::size_t end = 0;
  for (std::size_t k = 0; k < p.count(); ++k) {
    if (p.offset(k) != end || p.size(k) == 0 || p.size(k) > p.largest()) return false;
    end += p.size(k);
  }
  return end == bytes;
}

}  // namespace

TEST_CASE(blocks_cover_the_message_exactly) {
  for (std::size_t bytes : {1, 255, 256, 257, 511, 512, 513, 4096, 65535, 65537, 1000003, 8388608})
    for (std::size_t block : {std::size_t{4096}, std::size_t{5000}, 512 * kibibyte})
      for (std::size_t blocks : {0, 1, 2, 3, 7, 64})
        for (std::size_t threshold : {std::size_t{0}, 64 * kibibyte})
          for (bool even : {false, true})
            CHECK(covers(block_plan(bytes, block, blocks, threshold, even), bytes));
}

TEST_CASE(a_plan_that_was_told_is_the_same) {
  for (std::size_t bytes : {1, 513, 4096, 1000003})
    for (std::size_t blocks : {0, 1, 3, 64}) {
      const block_plan own(bytes, 4096, blocks, 0);
      const block_plan told = block_plan::from(bytes, own.told());
      CHECK(covers(told, bytes));
      CHECK_EQ(told.count(), own.count());
      CHECK_EQ(told.largest(), own.largest());
    }
}

TEST_CASE(a_damaged_plan_has_no_blocks) {
  for (const block_plan::numbers& n : {block_plan::numbers{0, 4096, 2048},
                                       {3, 0, 2048},
                                       {2, 4096, 0},
                                       {2, 4096, 9000},
                                       {3, 6952, 2048},
                                       {~0ull, 4096, 2048},
                                       {5, ~0ull, 2048}})
    CHECK_EQ(block_plan::from(9000, n).count(), 0);
  CHECK_EQ(block_plan::from(9000, {3, 6951, 2048}).count(), 3);
}

TEST_CASE(up_to_the_threshold_a_message_is_one_block) {
  CHECK_EQ(block_plan(64 * kibibyte, 4096, 0, 64 * kibibyte).count(), 1);
  CHECK_EQ(block_plan(64 * kibibyte, 4096, 8, 64 * kibibyte).count(), 1);
  CHECK(block_plan(64 * kibibyte + 1, 4096, 0, 64 * kibibyte).count() > 1);
}

TEST_CASE(the_count_is_as_set) {
  for (std::size_t blocks : {1, 2, 4, 10, 64})
    CHECK_EQ(block_plan(8192 * kibibyte, 512 * kibibyte, blocks, 0).count(), blocks);
  CHECK_EQ(block_plan(8192 * kibibyte, 512 * kibibyte, 0, 0).count(), 16);
}

TEST_CASE(the_first_block_is_half_and_the_last_one_and_a_half) {
  const block_plan p(1024 * kibibyte, 256 * kibibyte, 4, 0);
  CHECK_EQ(p.count(), 4);
  CHECK_EQ(p.size(0), 128 * kibibyte);
  CHECK_EQ(p.size(1), 256 * kibibyte);
  CHECK_EQ(p.size(2), 256 * kibibyte);
  CHECK_EQ(p.size(3), 384 * kibibyte);
  CHECK_EQ(p.largest(), 384 * kibibyte);
}

TEST_CASE(even_blocks_are_alike) {
  for (std::size_t blocks : {1, 2, 4, 8}) {
    const block_plan p(1024 * kibibyte, 256 * kibibyte, blocks, 0, true);
    CHECK_EQ(p.count(), blocks);
    for (std::size_t k = 0; k < blocks; ++k) CHECK_EQ(p.size(k), 1024 * kibibyte / blocks);
  }
}
