// SPDX-License-Identifier: BSD-3-Clause
// The program's buffers for a schedule that runs in host memory. A buffer on a device has an image
// in pinned memory. All that the schedule reads is copied there before its first step. All that it
// writes is copied back after its last step. So a small call costs the device no more than staging
// does. Bytes between blocks are left alone. Host memory is used in place.
#pragma once

#include <vector>

#include "coll/between/plans.hpp"
#include "memory/memory.hpp"
#include "memory/streams.hpp"

namespace telpher::coll::between {

/// A buffer of the program's; null where the call has none.
struct program_buffer {
  std::byte* at = nullptr;
  memory::place where;
};

class images {
 public:
  /// `what` outlives it. `unit`: bytes of an element.
  images(const plan& what, std::uint64_t unit, const program_buffer& input,
         const program_buffer& output) noexcept;
  images(const images&) = delete;
  images& operator=(const images&) = delete;
  /// Waits for copies that are under way.
  ~images();

  /// Where the buffer's first byte would be.
  std::byte* input() const noexcept { return input_.host; }
  std::byte* output() const noexcept { return shared_ ? input_.host : output_.host; }

  /// Each is called until it answers something else than would_block: what is read is there; what
  /// was written has reached the device.
  status load() noexcept;
  status store() noexcept;

  /// Messages may still come and go: the memory is kept for good.
  void abandon() noexcept;

 private:
  struct image {
    program_buffer of;
    std::byte* host = nullptr;
    memory::buffer memory;
    status make(std::uint64_t low, std::uint64_t high) noexcept;
  };
  struct copying {
    memory::stream_role by;
    bool begun = false;
    device::backend* owner = nullptr;  // of what is under way
    device::stream stream;
    memory::pooled_event end;
  };

  status prepare() noexcept;
  status move(copying& c, const image& i, const std::vector<piece>& pieces, bool in) noexcept;
  status settle(copying& c, std::uint64_t bytes) noexcept;
  status advance(copying& c, const image& i, const std::vector<piece>& pieces, bool in) noexcept;
  std::uint64_t bytes_of(const std::vector<piece>& pieces) const noexcept;

  const plan& plan_;
  std::uint64_t unit_;
  bool shared_;  // the output lies in the input's image (MPI_IN_PLACE)
  image input_, output_;
  status made_;
  copying in_{memory::stream_role::in}, out_{memory::stream_role::copy};
};

}  // namespace telpher::coll::between
