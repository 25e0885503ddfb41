// SPDX-License-Identifier: BSD-3-Clause
// One end of a message on its way. The engine polls transfers under its lock until they answer
// other than would_block; a transfer answers ok or an error once and is then destroyed.
#pragma once

#include <cstddef>
#include <memory>

#include "memory/memory.hpp"
#include "path/path.hpp"
#include "path/segment.hpp"

namespace telpher::path {

/// Contiguous bytes somewhere.
struct region {
  memory::place where;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

class transfer {
 public:
  virtual ~transfer() = default;
  virtual status poll() noexcept = 0;
  /// The way the bytes went; meaningful once poll answered ok.
  virtual kind moved_by() const noexcept = 0;
  /// Whether such transfers end mostly in the order in which they began and need no polling to get
  /// on: then the oldest are polled, and all of them now and then.
  virtual bool in_order() const noexcept { return false; }
  /// A sender's end: shared memory that must live on until the receiver is done.
  virtual std::unique_ptr<staging_piece> keep_memory() noexcept { return nullptr; }
  /// After an error: whether nobody else (the host MPI, the network) may still use memory of this
  /// transfer. It must not be destroyed otherwise.
  virtual bool quiet() const noexcept { return true; }
  /// A receiver's end: whether the sender still has to be told that the bytes have arrived.
  virtual bool owes_answer() const noexcept { return false; }
};

}  // namespace telpher::path
