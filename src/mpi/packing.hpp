// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack and MPI_Unpack where one side or both are device memory (MPI 5.0, section 5.2). The
// packed bytes are those of the type map, one after the other, as host MPIs pack them too: what is
// packed on a device may be unpacked on the host, and the other way round.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

struct packing {
  enum class direction { pack, unpack };
  direction to;
  const char* call;
  const void* typed;  // `count` elements of `type`
  MPI_Count count;
  MPI_Datatype type;
  const void* packed;  // `room` bytes
  MPI_Count room;
  MPI_Comm comm;
};

/// Packs to, or unpacks from, byte `position` of the packed buffer, and sets it behind the bytes.
/// False: no side is device memory, or the host MPI knows better what is wrong with the arguments.
/// Else `code` is what the call returns; any error handler has been called.
bool packed_on_device(const packing& p, MPI_Count& position, int* code) noexcept;

/// The same for a position of the int forms.
inline bool packed_on_device(const packing& p, int& position, int* code) noexcept {
  MPI_Count at = position;
  const bool ours = packed_on_device(p, at, code);
  position = static_cast<int>(at);
  return ours;
}

}  // namespace telpher::mpi
