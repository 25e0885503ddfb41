// SPDX-License-Identifier: BSD-3-Clause
// Communicators on which this process passes host memory only, as the program asserts by the info
// key mpi_assert_memory_alloc_kinds (MPI-4.1, 7.4.4 and 12.4.3). Buffers that are passed there are
// not looked up. Duplicates do not inherit the assertion.
#pragma once

#include <atomic>
#include <string>

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

constexpr const char* assertion_key = "mpi_assert_memory_alloc_kinds";

/// The info with which `comm` was made, or of MPI_Comm_set_info: what it asserts counts from now
/// on. Without the key nothing changes.
void take_assertion(MPI_Info info, MPI_Comm comm) noexcept;

/// The kinds that were asserted; null: none were.
const std::string* asserted_kinds(MPI_Comm comm) noexcept;

bool asserts_host_slow(MPI_Comm comm) noexcept;
inline std::atomic<bool> any_assertion{false};
/// One load in programs that assert nothing.
inline bool asserts_host(MPI_Comm comm) noexcept {
  return any_assertion.load(std::memory_order_relaxed) && asserts_host_slow(comm);
}

}  // namespace telpher::host_mpi
