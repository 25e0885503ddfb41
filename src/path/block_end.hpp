// SPDX-License-Identifier: BSD-3-Clause
// The memory at one end of a message that goes in blocks through host memory: contiguous, or with
// gaps, so that kernels pack and unpack the blocks.
#pragma once

#include <cstddef>

#include "datatype/datatype.hpp"
#include "path/staged.hpp"
#include "path/transfer.hpp"

namespace telpher::path {

/// What the blocks of a message come from, or go to: a contiguous region, or elements of a type in
/// device memory, of whose packed bytes each block is a part. Without either, bytes are dropped.
class block_end {
 public:
  block_end(const region& contiguous) noexcept : region_(contiguous) {}
  /// `bytes` packed bytes of elements at `buffer`.
  block_end(const memory::place& where, const datatype::layout& l, const void* buffer,
            std::size_t bytes) noexcept
      : region_{where, static_cast<std::byte*>(const_cast<void*>(buffer)), bytes}, layout_(&l) {}

  std::size_t bytes() const noexcept { return region_.bytes; }
  const memory::place& where() const noexcept { return region_.where; }
  bool has_gaps() const noexcept { return layout_.get() != nullptr; }
  bool drops() const noexcept { return !has_gaps() && !region_.data; }
  /// The region of an end without gaps.
  const region& contiguous() const noexcept { return region_; }
  void set_contiguous(std::byte* data) noexcept { region_.data = data; }
  void drop() noexcept { *this = block_end(region{{}, nullptr, region_.bytes}); }

  /// Starts to move `bytes` from byte `at` on to `block`, or from there, in host memory that may be
  /// `pinned`. Kernels use pinned memory only: else temporary device memory lies between.
  status read(std::size_t at, std::size_t bytes, void* block, bool pinned,
              block_copies& by) const noexcept;
  status write(std::size_t at, std::size_t bytes, const void* block, bool pinned,
               block_copies& by) const noexcept;

 private:
  region region_;  // of elements: `data` is the buffer's address
  datatype::hold layout_;
};

}  // namespace telpher::path
