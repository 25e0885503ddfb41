// SPDX-License-Identifier: BSD-3-Clause
// Files that the vendor's library moves (memory/direct_file.hpp): each is opened a second time when
// the host MPI has opened it. Both go to the same file through the operating system, so what one
// has written the other reads, and MPI_File_sync serves both.
#pragma once

#include <cstdint>
#include <optional>

#include "memory/memory.hpp"
#include "mpi/files.hpp"

namespace telpher::mpi::files {

/// What the program sees of a file.
struct view {
  MPI_Offset begins = 0;   // in bytes
  std::uint64_t unit = 0;  // bytes of one; 0: there is no view
  bool native = false;
  bool contiguous = false;  // it has no holes
};

/// A run of bytes in device memory.
struct stretch {
  memory::place where;
  std::byte* data;
  std::uint64_t bytes;
  view seen;
};

/// For MPI_File_open and MPI_File_close.
void opened(MPI_File file, const char* name, int mode) noexcept;
void closing(MPI_File file) noexcept;

/// Whether the call's file is open a second time, for what the call does.
bool is_direct(const access& a) noexcept;

/// Moves the bytes, and with them the file's pointer where the call has no offset. Returns how many
/// were moved, none if the library does not serve the file. `ended`: that is all, or all that the
/// file has; else the rest begins with a unit of the view.
std::uint64_t move_directly(const access& a, const stretch& s, std::optional<MPI_Offset> offset,
                            bool& ended) noexcept;

}  // namespace telpher::mpi::files
