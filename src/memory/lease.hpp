// SPDX-License-Identifier: BSD-3-Clause
// What a driver said of an allocation, for as long as messages use it. A program may not free
// memory that a pending call uses (MPI 4.1, 3.7.2), so while one message of an allocation is under
// way the answer is true for every address in it, and the next message of it needs no query, which
// costs 100 to 150 ns. A message that is complete, or that the program will not hear of again
// (MPI_Request_free), must give its lease back: memory may be freed then.
#pragma once

#include <utility>

#include "memory/memory.hpp"

namespace telpher::memory {

/// One message's part in what is known of an allocation. Movable; given back on destruction.
class lease {
 public:
  lease() = default;
  lease(lease&& o) noexcept : entry_(std::exchange(o.entry_, nullptr)) {}
  lease& operator=(lease&& o) noexcept {
    std::swap(entry_, o.entry_);
    return *this;
  }
  ~lease() { release(); }

  void release() noexcept {
    if (entry_) give_back(std::exchange(entry_, nullptr));
  }
  explicit operator bool() const noexcept { return entry_ != nullptr; }

 private:
  friend place classify(const void* address, device::pointer_info& info, lease& held) noexcept;
  struct entry;
  struct table;
  static void give_back(entry* e) noexcept;
  entry* entry_ = nullptr;
};

/// memory::classify that asks a driver only where no message holds the allocation. For device
/// memory `held` is a lease of it then; empty where there are too many of them.
place classify(const void* address, device::pointer_info& info, lease& held) noexcept;

}  // namespace telpher::memory
