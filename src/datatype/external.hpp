// SPDX-License-Identifier: BSD-3-Clause
// The canonical representation of MPI (external32: values of fixed sizes, the highest byte first,
// without gaps) for elements in device memory. Kernels write and read it where all that it changes
// is the order of bytes. The functions wait.
#pragma once

#include <cstdint>

#include "datatype/move.hpp"

namespace telpher::datatype {

/// The bytes of a unit, if the type's packed bytes become the canonical ones when the bytes of each
/// unit are put into the other order: all its basic elements have one size, the same in both
/// representations. 1: nothing changes; 0: it is not so. The host MPI tells it of each basic type,
/// by what it makes of a value.
std::uint32_t canonical_unit(MPI_Datatype type);

/// Elements on a device to their canonical bytes, or back; `unit` is not 0.
status gather_canonical(const elements& from, const side& packed, std::uint32_t unit) noexcept;
status scatter_canonical(const side& packed, const elements& to, std::uint32_t unit) noexcept;

}  // namespace telpher::datatype
