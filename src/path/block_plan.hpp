// SPDX-License-Identifier: BSD-3-Clause
// How a staged or pipelined message is cut into blocks. Both ends compute the same plan from the
// same numbers, so blocks need no headers; a sender that stages tells its numbers. The first block
// is half as long and the last one and a half times as long, so that the second leg starts early
// (the advanced pipeline of Chen et al., "GPU-aware MPI with oneAPI", listing 1).
#pragma once

#include <cstddef>
#include <cstdint>

namespace telpher::path {

class block_plan {
 public:
  /// For `bytes` > 0. `blocks` 0: as many as give blocks of about `block_bytes`. Messages of at
  /// most `threshold` bytes are one block. `even`: no short first and no long last block.
  block_plan(std::size_t bytes, std::size_t block_bytes, std::size_t blocks, std::size_t threshold,
             bool even = false) noexcept;
  /// With the numbers of the settings.
  static block_plan of(std::size_t bytes) noexcept;

  /// The numbers that, with the message's size, define a plan; trivially copyable.
  struct numbers {
    std::uint64_t count;
    std::uint64_t block;  // length of a middle block
    std::uint64_t first;  // length of the first block
  };
  numbers told() const noexcept { return {count_, block_, first_}; }
  /// The plan from another process's numbers; has no blocks if they do not fit `bytes`.
  static block_plan from(std::size_t bytes, const numbers& told) noexcept;

  std::size_t count() const noexcept { return count_; }
  std::size_t offset(std::size_t block) const noexcept;
  std::size_t size(std::size_t block) const noexcept;
  /// The longest block; a slot of a ring must hold it.
  std::size_t largest() const noexcept;

 private:
  block_plan(std::size_t bytes, const numbers& n) noexcept
      : bytes_(bytes), count_(n.count), block_(n.block), first_(n.first) {}

  std::size_t bytes_;
  std::size_t count_;
  std::size_t block_;  // length of a middle block
  std::size_t first_;  // length of the first block
};

}  // namespace telpher::path
