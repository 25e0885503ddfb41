// SPDX-License-Identifier: BSD-3-Clause
// MPI-IO on device memory (MPI 5.0, chapter 14). The file is read or written by the host MPI. Data
// of calls that concern this rank alone goes as packed bytes, in blocks if it is large: one is
// copied to or from the device while the file takes the next (file_blocks.cpp). Elsewhere a buffer
// on a device is stood for by an image in host memory of the same layout, in one piece:
// - collective calls: all ranks must make the same number of them, and do not know each other's
//   sizes;
// - with the shared file pointer: another rank's data could get between two blocks;
// - on an atomic file: another rank could see a part;
// - non-blocking calls: MPI_File_iwrite needs its bytes in host memory before the host MPI can
//   begin, and of a request only the host MPI knows when the next block could follow.
//
// A short read (end of file) leaves the rest of the program's buffer as it was. Errors go to the
// file's handler. Host memory never comes here.
#pragma once

#include <functional>
#include <optional>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi::files {

enum class direction { read, write };

/// The host MPI's call, on `count` elements of `type` at `buffer`. `offset` is that of the _at
/// forms, and of no meaning elsewhere.
using host_call = std::function<int(void* buffer, MPI_Count count, MPI_Datatype type,
                                    MPI_Offset offset, MPI_Status* status)>;
using host_start = std::function<int(void* buffer)>;
using host_end = std::function<int(void* buffer, MPI_Status* status)>;

/// What a call reads or writes. Each function below returns the call's code.
struct access {
  const char* call;
  MPI_File file;
  direction way;
  void* buffer;
  MPI_Count count;
  MPI_Datatype type;

  bool on_device() const noexcept;

  /// Collective calls, and those with a shared file pointer: one call of the host MPI.
  int whole(std::optional<MPI_Offset> offset, MPI_Status* status,
            const host_call& f) const noexcept;
  /// Calls of this rank alone, with an offset or its own file pointer.
  int in_blocks(std::optional<MPI_Offset> offset, MPI_Status* status,
                const host_call& f) const noexcept;
  /// Non-blocking calls; `f` makes `*request`.
  int start(MPI_Request* request, const host_start& f) const noexcept;
  /// The first half of a split collective.
  int begin(const host_start& f) const noexcept;

  /// Raises the error of a copy between device and host.
  int fail(status s) const noexcept;
};

/// The bytes that a call of the host MPI has read or written.
std::uint64_t transferred(const MPI_Status& status) noexcept;

/// The second half. `buffer` is what the program passed to the first.
int end(const char* call, MPI_File file, void* buffer, MPI_Status* status,
        const host_end& f) noexcept;

}  // namespace telpher::mpi::files
