// SPDX-License-Identifier: BSD-3-Clause
// The host image of one rank's device memory, for windows that ranks of other nodes reach. The host
// MPI's window lies over the image, so the host MPI carries out every operation there. In the terms
// of MPI's separate memory model (MPI_WIN_SEPARATE) the image is the public copy, and the device
// memory the private one. merge() makes both the same, in the calls that the standard names
// (merging.hpp).
//
// A third copy holds what both were after the last merge. A byte that differs from it in the image
// was written by an operation and goes to the device. A byte that differs on the device was stored
// by the program and goes to the image. Operations may arrive during a merge. So the image is read
// once, and the merge writes only bytes there that no operation had changed. The next merge finds
// what arrived later.
//
// The host alone finds out what operations have written. So where the program's stores need not be
// looked for, merge_written() reads from the device only the parts in which operations wrote.
#pragma once

#include <mutex>

#include "memory/memory.hpp"

namespace telpher::rma {

class image {
 public:
  image() = default;
  image(const image&) = delete;
  image& operator=(const image&) = delete;
  ~image();

  /// Reads the device memory.
  status start(const memory::place& where, std::byte* device, std::size_t bytes) noexcept;
  /// What the host MPI's window lies over; gets the content. Before any merge.
  void lie_over(std::byte* public_copy) noexcept;
  /// Reads the whole device memory.
  status merge() noexcept;
  /// Merges the parts in which operations wrote. `found` is set if there are any.
  status merge_written(bool& found) noexcept;

 private:
  bool written(std::size_t first) const noexcept;
  status merge_block(std::size_t first, std::size_t bytes) noexcept;

  memory::place where_;
  std::byte* device_ = nullptr;
  std::size_t bytes_ = 0;
  std::byte* public_ = nullptr;
  std::mutex guard_;           // threads may synchronise side by side
  std::byte* last_ = nullptr;  // the third copy
  memory::buffer block_;       // of device memory, pinned
};

}  // namespace telpher::rma
