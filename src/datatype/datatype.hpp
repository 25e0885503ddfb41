// SPDX-License-Identifier: BSD-3-Clause
// MPI datatypes as the message path needs them: how many bytes, where they lie, and how to gather
// them from device memory. A type is flattened once, at its first use, and kept until MPI_Type_free.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "device/device.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::datatype {

/// A committed type in canonical form. Offsets are from the buffer address; blocks are in the order
/// of the type map (which is the order of the packed bytes) with neighbours merged.
struct layout {
  struct block {
    std::int64_t offset;
    std::uint64_t bytes;
  };
  std::uint64_t size = 0;        // bytes of data in one element (MPI_Type_size_x)
  std::int64_t lower_bound = 0;
  std::int64_t extent = 0;
  std::int64_t true_lower_bound = 0;
  std::int64_t true_extent = 0;
  bool contiguous = false;       // count elements are one run of bytes: one block, size == extent
  std::vector<block> blocks;
};

/// The layout of a type; predefined types and repeated look-ups cost one hash probe. Never null: a
/// type that cannot be decoded (no envelope) is an invalid_argument.
result<const layout*> layout_of(MPI_Datatype type) noexcept;

/// Must be called by the wrapper of MPI_Type_free before the host MPI frees the type.
void forget(MPI_Datatype type) noexcept;

/// Gathers `count` elements at device address `base` into contiguous bytes at `packed` (device or
/// pinned memory), or scatters them back; enqueued on `s`. Uses one kernel launch.
status pack(device::backend& b, const layout& l, const void* base, MPI_Count count, void* packed,
            device::stream s) noexcept;
status unpack(device::backend& b, const layout& l, const void* packed, void* base, MPI_Count count,
              device::stream s) noexcept;

/// The same on host memory, by the CPU, for bytes [first, first + bytes) of the packed stream.
void pack_host(const layout& l, const void* base, std::uint64_t first, std::uint64_t bytes,
               void* packed) noexcept;
void unpack_host(const layout& l, const void* packed, std::uint64_t first, std::uint64_t bytes,
                 void* base) noexcept;

}  // namespace telpher::datatype
