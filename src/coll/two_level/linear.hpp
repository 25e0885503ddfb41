// SPDX-License-Identifier: BSD-3-Clause
// A buffer of a call as a run of bytes. Most are one. Where the type has gaps, a rank that must go
// in two levels all the same (paths.hpp: there is no vote in this call) works on a packed host
// copy.
#pragma once

#include "coll/two_level/paths.hpp"
#include "datatype/datatype.hpp"

namespace telpher::coll::two_level {

class linear {
 public:
  linear(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept;

  /// What the host MPI counts, so that ranks with types of other forms know the same.
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool contiguous() const noexcept;
  /// The program's buffer; where there are no gaps, its first byte.
  const memory_ref& buffer() const noexcept { return buffer_; }

  /// The run of bytes; a packed copy is made first if need be, with the contents if `load`.
  /// A rank without memory for it ends the job: its peers are on their way.
  memory_ref open(bool load) noexcept;
  /// Writes a packed copy back.
  status close() noexcept;

 private:
  status copy(bool to_packed) noexcept;

  const datatype::layout* layout_ = nullptr;  // null: no way to see into the type
  MPI_Count count_;
  std::uint64_t bytes_ = 0;
  memory_ref buffer_;
  memory::buffer packed_;
};

}  // namespace telpher::coll::two_level
