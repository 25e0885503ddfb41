// SPDX-License-Identifier: BSD-3-Clause
// Copies of elements of a type, and of contiguous bytes, between any two places. The functions wait
// until the copy is done. They are not for the message path, which must not wait for its copies.
#pragma once

#include "datatype/datatype.hpp"
#include "memory/memory.hpp"

namespace telpher::datatype {

/// An address and where it lies.
struct side {
  memory::place where;
  std::byte* data = nullptr;
};

/// `count` elements at a buffer address; all their bytes lie at one place.
struct elements {
  const layout& type;
  MPI_Count count;
  side at;

  bool one_run() const noexcept { return type.one_run(count); }
  std::size_t bytes() const noexcept { return type.size * static_cast<std::size_t>(count); }
};

/// Contiguous bytes.
status copy(const side& to, const side& from, std::size_t bytes) noexcept;
/// All elements, one after the other, to contiguous bytes.
status gather(const elements& from, const side& packed) noexcept;
status scatter(const side& packed, const elements& to) noexcept;
/// Elements to elements; both sides have the same number of bytes.
status move(const elements& from, const elements& to) noexcept;

}  // namespace telpher::datatype
