// SPDX-License-Identifier: BSD-3-Clause
// The host images of a call's device buffers, and the copies between the two. An image has
// the layout of the buffer, so that the host MPI runs the program's own call on it. Bytes that no
// element covers are neither read from the device nor written to it.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.hpp"
#include "memory/memory.hpp"
#include "path/path.hpp"
#include "staging/pending.hpp"

namespace telpher::staging {

struct segment {
  std::int64_t displacement;  // bytes from the buffer address
  MPI_Count count;
  MPI_Datatype type;
};

/// The parts of a buffer that a call reads or writes, and which way their bytes move.
struct plan {
  std::vector<segment> segments;
  bool copy_in = false;
  bool copy_out = false;

  void add(std::int64_t displacement, MPI_Count count, MPI_Datatype type) {
    if (count > 0) segments.push_back({displacement, count, type});
  }
};

class host_images final : public pending {
 public:
  /// `counted_as`: what a round counts as in the statistics.
  explicit host_images(path::kind counted_as = path::kind::coll_staged) noexcept
      : counted_as_(counted_as) {}

  /// Makes an image for the segments of `p` and answers the address that stands for `buffer`. If no
  /// byte of the plan is in device memory, that is `buffer` itself, unless another image already
  /// has this address. Copies nothing yet.
  ///
  /// Host MPIs compare the buffer addresses of a call: equal ones are taken for MPI_IN_PLACE (Open
  /// MPI) or for an error (MPICH). MPI_BOTTOM and MPI_IN_PLACE are addresses with a meaning. The
  /// address that stands for MPI_BOTTOM may be any number. So this takes care that no two buffers
  /// of a call get the same address, and that none gets one that has a meaning.
  result<void*> add(void* buffer, const plan& p) noexcept;
  /// Whether the host MPI has got this address for another buffer of the call.
  bool stands_at(const void* address) const noexcept;

  /// Begins a round, which is counted as one call: fills the images, returns when they are
  /// complete.
  status copy_in() noexcept;
  /// Writes the results to the devices; returns when they are there.
  status copy_out() noexcept;

  /// Bytes of all images, as their types count them; for traces.
  long long bytes() const noexcept;
  bool empty() const noexcept { return images_.empty(); }

  status before_start() noexcept override { return copy_in(); }
  status after_completion() noexcept override { return copy_out(); }

 private:
  // Consecutive bytes, at the same distance from the buffer and from its image.
  struct run {
    memory::place where;
    std::int64_t offset;
    std::uint64_t bytes;
  };
  // Elements with gaps: packed on the device, unpacked into the image by the CPU, and back.
  struct strided {
    memory::place where;
    std::int64_t offset;
    MPI_Count count;
    datatype::hold type;
    memory::buffer packed;
  };
  struct image {
    char* device;  // the program's buffer address
    char* host;    // the address that stands for it
    memory::buffer memory;
    bool copy_in;
    bool copy_out;
    std::vector<run> runs;
    std::vector<strided> pieces;
  };
  struct bounds;
  class copies;

  result<void*> add_image(void* buffer, const plan& p);
  static status add_segment(image& to, const segment& s, bounds& b);
  static void add_run(image& to, const memory::place& where, std::int64_t offset,
                      std::uint64_t bytes);
  /// Each block as a run of its own; `place_of(offset)` says where it lies.
  template <class PlaceOf>
  static void add_blocks(image& to, std::int64_t displacement, MPI_Count count,
                         const datatype::layout& l, const PlaceOf& place_of);
  status place_image(image& to, const bounds& b);
  static status copy_by_kernel(const image& i, bool in) noexcept;
  static status copy_image(const image& i, bool in, copies& started) noexcept;
  status copy_images(bool in) noexcept;

  path::kind counted_as_;
  std::vector<image> images_;
};

}  // namespace telpher::staging
