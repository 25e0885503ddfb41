// SPDX-License-Identifier: BSD-3-Clause
// Finds out who calls a function of Telpher, by two or three comparisons of the return address.
#pragma once

namespace telpher::host_mpi {

/// `beneath`: the vendor's own MPI library below a library of the standard ABI, which the program
/// uses.
enum class caller { other, host_mpi, beneath };

caller caller_at(const void* address) noexcept;

}  // namespace telpher::host_mpi
