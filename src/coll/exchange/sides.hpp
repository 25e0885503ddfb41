// SPDX-License-Identifier: BSD-3-Clause
// What a call reads and writes at this rank, as elements of the program's types. Where no schedule
// can use the buffers as they lie, the call runs on packed copies (packed_copies.hpp). The other
// ranks need not know.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::coll::exchange {

class arguments;

/// Bytes of the vector, or of a rank's block, of a call whose longest vector has so many bytes.
std::uint64_t block_bytes(const arguments& a, std::uint64_t longest) noexcept;

/// How many blocks make the buffer of each side: one for each rank, or one.
struct block_counts {
  int sent = 1, received = 1;
};
block_counts blocks_of(const arguments& a) noexcept;

/// Elements of a buffer that the call reads, or writes; no parts: it has none there.
struct side {
  struct part {
    std::int64_t at;  // bytes from the buffer
    std::int64_t count;
  };
  std::byte* buffer = nullptr;
  MPI_Datatype of = MPI_DATATYPE_NULL;
  std::vector<part> parts;  // in the order of the packed bytes
  datatype::hold type;      // of one that is packed
  std::uint64_t bytes = 0;  // packed; 0: it is not packed

  std::byte* address(std::int64_t offset) const noexcept {
    // The sum if the buffer is MPI_BOTTOM, too.
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                        static_cast<std::uintptr_t>(offset));
  }
  void pack_as(const datatype::layout& l) noexcept;
};

struct sides {
  side input, output;
  bool in_place = false;  // both are in one buffer
};
/// None is packed. May throw std::bad_alloc.
sides sides_of(const arguments& a);

}  // namespace telpher::coll::exchange
