// SPDX-License-Identifier: BSD-3-Clause
// Caches what the driver said about an allocation while messages use it. A program may not free
// memory that a pending call uses (MPI 4.1, 3.7.2). So while a message of an allocation is in
// flight, the answer holds for every address in the allocation, and the next message needs no
// driver query, which costs 100 to 150 ns. A message must release its reference when it completes,
// or when the program gives up its request (MPI_Request_free): from then on the memory may be
// freed.
#pragma once

#include <utility>

#include "memory/memory.hpp"

namespace telpher::memory {

/// One message's reference to a cached answer. Movable; released on destruction.
class cached_pointer {
 public:
  cached_pointer() = default;
  cached_pointer(cached_pointer&& o) noexcept : entry_(std::exchange(o.entry_, nullptr)) {}
  cached_pointer& operator=(cached_pointer&& o) noexcept {
    std::swap(entry_, o.entry_);
    return *this;
  }
  ~cached_pointer() { release(); }

  void release() noexcept {
    if (entry_) give_back(std::exchange(entry_, nullptr));
  }
  explicit operator bool() const noexcept { return entry_ != nullptr; }

 private:
  friend place classify(const void* address, device::pointer_info& info,
                        cached_pointer& held) noexcept;
  struct entry;
  struct table;
  static void give_back(entry* e) noexcept;
  entry* entry_ = nullptr;
};

/// memory::classify that asks the driver only if no message in flight refers to the
/// allocation. For device memory `held` becomes a reference; it stays empty if all entries are in
/// use.
place classify(const void* address, device::pointer_info& info, cached_pointer& held) noexcept;

}  // namespace telpher::memory
