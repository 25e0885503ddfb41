// SPDX-License-Identifier: BSD-3-Clause
// What the info of a communicator, window, file or session says of the kinds of memory that may be
// passed to its calls: the key mpi_memory_alloc_kinds of MPI 4.1 (12.4.3), with the kinds and
// restrictors of the MPI Forum's side document "Memory Allocation Kinds" (2024): cuda, rocm,
// level_zero.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// The host MPI's answer, with the kinds that Telpher adds.
int comm_get_info(MPI_Comm comm, MPI_Info* info_used) noexcept;
#if TELPHER_HOST_HAS_Session_get_info
/// The same, also before the program has a communicator.
int session_get_info(MPI_Session session, MPI_Info* info_used) noexcept;
#endif
/// For the answers of windows and files.
int add_kinds(MPI_Info info_used) noexcept;

/// Whether the first kind in the info's list that this process has is memory of a device, as in
/// "cuda:device" or "rocm". Kinds that nobody has are passed over, as hints are.
bool asks_for_device_memory(MPI_Info info) noexcept;

}  // namespace telpher::mpi
