// SPDX-License-Identifier: BSD-3-Clause
// What a call reads and writes at this rank, as elements of the program's types. Where these have
// gaps no schedule can use the buffers as they lie: the call runs on packed copies then, in device
// memory (packed_copies.hpp) or, between nodes, in host memory (between/packed.hpp). The other
// ranks need not know.
#pragma once

#include <cstdint>
#include <vector>

#include "datatype/datatype.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::coll::exchange {

class arguments;

/// How many blocks make the buffer of each side: one for each rank, or one.
struct block_counts {
  std::uint64_t sent = 1, received = 1;
};
block_counts blocks_of(const arguments& a) noexcept;

/// A buffer of the call, if it `reads` or `writes` one.
struct side {
  struct part {
    std::int64_t at;  // bytes from the buffer
    std::int64_t count;
  };
  std::byte* buffer = nullptr;
  MPI_Datatype of = MPI_DATATYPE_NULL;
  bool reads = false, writes = false;
  std::vector<part> parts;  // in the order of the packed bytes

  std::byte* address(std::int64_t offset) const noexcept {
    // The sum if the buffer is MPI_BOTTOM, too.
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                        static_cast<std::uintptr_t>(offset));
  }
};

/// In place all is the output.
struct sides {
  side input, output;
};
/// May throw std::bad_alloc.
sides sides_of(const arguments& a);

/// A side whose elements have gaps.
struct gapped_side : side {
  datatype::hold type;
  std::uint64_t bytes = 0;  // packed; 0: this side has no gaps
};
struct gapped_sides {
  gapped_side input, output;
};

}  // namespace telpher::coll::exchange
