// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pack, MPI_Unpack and their external forms where one side or both are device memory (MPI 5.0,
// sections 5.2 and 5.3). The packed bytes are those of the type map, one after the other, as host
// MPIs pack them too: what is packed on a device may be unpacked on the host, and the other way
// round.
#pragma once

#include <functional>
#include <type_traits>

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

/// The canonical representation (section 5.3) of elements in device memory, likewise. False also
/// where more than the order of bytes changes (datatype/external.hpp).
bool canonical_on_device(const packing& p, const char* datarep, MPI_Count& position,
                         int* code) noexcept;

/// Else the host MPI writes and reads it: device memory is stood for by an image in host memory.
/// `host` is its call, on stand-ins for both sides.
using host_packing = std::function<int(void* typed, void* packed)>;
int external_by_host(const packing& p, const char* datarep, MPI_Count position,
                     const host_packing& host) noexcept;

template <class Size>
int external(const packing& p, const char* datarep, Size* position,
             const host_packing& host) noexcept {
  MPI_Count at = *position;
  int code = MPI_SUCCESS;
  if (!canonical_on_device(p, datarep, at, &code))
    return external_by_host(p, datarep, *position, host);
  *position = static_cast<Size>(at);
  return code;
}

template <class Count, class Size>
int pack_external(const char* call, const char* datarep, const void* typed, Count count,
                  MPI_Datatype type, void* packed, Size room, Size* position) noexcept {
  const auto host = [&](void* from, void* to) {
    if constexpr (std::is_same_v<Count, int>)
      return pmpi::Pack_external(datarep, from, count, type, to, room, position);
    else
      return pmpi::Pack_external_c(datarep, from, count, type, to, room, position);
  };
  const packing p{packing::direction::pack, call, typed, count, type, packed, room, MPI_COMM_SELF};
  return external(p, datarep, position, std::ref(host));
}

template <class Count, class Size>
int unpack_external(const char* call, const char* datarep, const void* packed, Size room,
                    Size* position, void* typed, Count count, MPI_Datatype type) noexcept {
  const auto host = [&](void* to, void* from) {
    if constexpr (std::is_same_v<Count, int>)
      return pmpi::Unpack_external(datarep, from, room, position, to, count, type);
    else
      return pmpi::Unpack_external_c(datarep, from, room, position, to, count, type);
  };
  const packing p{
      packing::direction::unpack, call, typed, count, type, packed, room, MPI_COMM_SELF};
  return external(p, datarep, position, std::ref(host));
}

}  // namespace telpher::mpi
