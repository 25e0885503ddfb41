// SPDX-License-Identifier: BSD-3-Clause
// Whether a communicator is still there, for what is kept by its handle: a program, or a library
// below it, may free one by a call that Telpher does not see, and the host MPI gives the handle to
// another one, at each rank at another time. What was kept for the first must not serve the second.
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
  /// How many have ended that were asked about. It changes before a handle comes again.
  static unsigned ended() noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  struct mark;
  std::shared_ptr<std::atomic<bool>> ended_;
  static inline constinit std::atomic<unsigned> count_{0};
};

}  // namespace telpher::host_mpi
