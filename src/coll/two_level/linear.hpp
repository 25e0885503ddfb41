// SPDX-License-Identifier: BSD-3-Clause
// A buffer of a call as a run of bytes. Most are one. Where the type has gaps, a rank that must go
// in two levels all the same (paths.hpp: there is no vote in this call) works on a packed host
// copy.
#pragma once

#include <optional>
#include <vector>

#include "coll/two_level/numbers.hpp"
#include "coll/two_level/paths.hpp"
#include "datatype/datatype.hpp"

namespace telpher::coll::two_level {

class linear {
 public:
  linear(const void* buffer, MPI_Count count, MPI_Datatype type) noexcept;

  /// What the host MPI counts, so that ranks with types of other forms know the same.
  std::uint64_t bytes() const noexcept { return bytes_; }
  bool contiguous() const noexcept;
  /// The program's buffer; where there are no gaps, its first byte. Null where it has no bytes.
  memory_ref buffer() const noexcept { return bytes_ ? buffer_ : memory_ref{}; }

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

/// The same for blocks, each with its own count and displacement: a run of bytes in which every
/// block has its place.
class ragged {
 public:
  ragged(const void* buffer, int blocks, numbers counts, numbers displacements, MPI_Datatype type);
  ragged(const ragged&) = delete;
  ragged& operator=(const ragged&) = delete;
  ~ragged();

  /// Of each block, and where it lies in what open() gives.
  const std::vector<std::int64_t>& bytes() const noexcept { return bytes_; }
  const std::vector<std::int64_t>& offsets() const noexcept { return offsets_; }
  std::uint64_t total() const noexcept;
  bool contiguous() const noexcept { return !packed_; }
  /// Null where all blocks are empty.
  memory_ref buffer() const noexcept;
  memory_ref open(bool load) noexcept { return packed_ ? packed_->open(load) : buffer_; }
  status close() noexcept { return packed_ ? packed_->close() : status::ok; }

 private:
  /// One type for all blocks, which have gaps.
  void make_type(const void* buffer, const std::vector<std::int64_t>& counts, numbers displacements,
                 MPI_Datatype type);

  std::vector<std::int64_t> bytes_, offsets_;
  memory_ref buffer_;
  MPI_Datatype all_ = MPI_DATATYPE_NULL;
  std::optional<linear> packed_;
};

}  // namespace telpher::coll::two_level
