// SPDX-License-Identifier: BSD-3-Clause
// Whether a communicator still exists, for tables whose key is its handle. A program, or a library
// below it, may free a communicator by a call that Telpher does not see. The host MPI then gives
// the handle to another communicator, at a different time on each rank. A table's entry for the
// first must not serve the second.
#pragma once

#include <atomic>
#include <memory>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

class lifetime {
 public:
  /// Never over.
  lifetime() noexcept = default;
  /// Of the communicator that has this handle now. Never over where the host MPI refuses the
  /// attribute. May throw std::bad_alloc.
  explicit lifetime(MPI_Comm comm);

  bool over() const noexcept { return ended_ && ended_->load(std::memory_order_relaxed); }
  /// How many communicators with a lifetime object have ended. The number changes before one of
  /// their handles is used again.
  static unsigned ended() noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct mark;
  std::shared_ptr<std::atomic<bool>> ended_;
  static inline constinit std::atomic<unsigned> count_{0};
};

}  // namespace telpher::host_mpi
