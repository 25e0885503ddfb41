// SPDX-License-Identifier: BSD-3-Clause
// The memory that a rank exposes in a window, as slots with guard bytes, and the window, open to
// all from its making to its end. Made by MPI_Win_create over memory of the program, or by
// MPI_Win_allocate, which is asked for memory of the back end by `mpi_memory_alloc_kinds`.
#pragma once

#include "one_sided.hpp"

namespace telpher::bench {

class exposed_memory {
 public:
  /// Collective. The same sizes at all ranks.
  exposed_memory(memory_source& source, kind k, std::size_t bytes, int slots, window_making making,
                 MPI_Comm comm);
  ~exposed_memory();
  exposed_memory(const exposed_memory&) = delete;
  exposed_memory& operator=(const exposed_memory&) = delete;

  MPI_Win window() const noexcept { return window_; }
  window_buffer& buffer() noexcept { return *buffer_; }
  /// The displacement of a slot, at every rank.
  MPI_Aint place(int slot) const;
  /// The program's own stores are seen by others, and theirs here; between two meetings.
  void synchronise();

 private:
  class allocating;

  MPI_Win window_ = MPI_WIN_NULL;
  std::unique_ptr<allocating> memory_;  // where MPI allocates; it frees the window
  std::unique_ptr<window_buffer> buffer_;
};

}  // namespace telpher::bench
