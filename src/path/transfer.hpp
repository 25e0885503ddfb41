// SPDX-License-Identifier: BSD-3-Clause
// One end of a message in flight. Progress passes poll transfers under the progress lock while they
// return would_block. A transfer returns ok or an error once and is then destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory/memory.hpp"
#include "path/path.hpp"
#include "path/segment.hpp"

namespace telpher::path {

/// A contiguous range of memory.
struct region {
  memory::place where;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Whether the bytes lie in the allocation. A region in chunks may reach beyond its first one. Of
/// memory that cannot be exported too little is known.
inline bool inside(const region& r, const device::pointer_info& allocation) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(r.data);
  return r.bytes <= allocation.bytes && at >= allocation.base &&
         at - allocation.base <= allocation.bytes - r.bytes;
}

class transfer {
 public:
  virtual ~transfer() = default;
  virtual status poll() noexcept = 0;
  /// The path that the bytes took; meaningful after poll returned ok.
  virtual kind moved_by() const noexcept = 0;
  /// Whether transfers of this kind mostly end in the order in which they began and need no polls
  /// to make progress. Then usually only the oldest are polled, and all of them now and then.
  virtual bool in_order() const noexcept { return false; }
  /// A sender's end: shared memory that must exist until the receiver is done.
  virtual std::unique_ptr<staging_piece> keep_memory() noexcept { return nullptr; }
  /// After an error: false while the host MPI or the network may still use memory of this transfer.
  /// It must not be destroyed then.
  virtual bool quiet() const noexcept { return true; }
  /// A receiver's end: whether the sender must still be told that the bytes have arrived.
  virtual bool owes_answer() const noexcept { return false; }
};

}  // namespace telpher::path
