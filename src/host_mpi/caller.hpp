// SPDX-License-Identifier: BSD-3-Clause
// Who calls a function of Telpher: two or three comparisons of the return address.
#pragma once

namespace telpher::host_mpi {

/// `beneath`: an MPI library that lies below the one of the program, which is of the standard ABI.
enum class caller { other, host_mpi, beneath };

caller caller_at(const void* address) noexcept;

}  // namespace telpher::host_mpi
