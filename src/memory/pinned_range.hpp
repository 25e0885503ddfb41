// SPDX-License-Identifier: BSD-3-Clause
// Registers parts of a shared segment with devices at first use. This happens chunk by chunk, so
// that a large segment costs nothing until it is used. A chunk that cannot be registered is used
// unregistered: copies are slower then, and one log line says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory/memory.hpp"

namespace telpher::memory {

class pinned_range {
 public:
  /// Chunks begin at multiples of this from the start of the range. A device copy must not cross
  /// from one registration into the next, because CUDA refuses it.
  static constexpr std::size_t chunk_bytes = std::size_t{4} << 20;

  pinned_range() = default;
  pinned_range(std::byte* first, std::size_t bytes) noexcept : first_(first), bytes_(bytes) {}
  pinned_range(const pinned_range&) = delete;
  pinned_range& operator=(const pinned_range&) = delete;
  pinned_range(pinned_range&&) = default;
  pinned_range& operator=(pinned_range&&) = default;

  /// Registers the chunks that hold [address, address + bytes) with `owner`.
  void prepare(device::backend* owner, const std::byte* address, std::size_t bytes) noexcept;
  /// Undoes all registrations.
  void release() noexcept;

 private:
  struct chunk {
    device::backend* owner;
    std::size_t index;
    bool registered;
  };
  bool known(device::backend* owner, std::size_t index) const noexcept;

  std::byte* first_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<chunk> chunks_;
};

}  // namespace telpher::memory
