// SPDX-License-Identifier: BSD-3-Clause
// The calls that give a communicator an info. Its key `telpher_compression` decides on compression
// for the communicator's messages in place of the setting; `telpher_stream` names a stream that its
// calls wait for; `mpi_assert_memory_alloc_kinds` may spare look-ups of pointers. Host MPIs drop
// keys that they do not know, so Telpher reads the info itself. Not that of
// MPI_Comm_idup_with_info, whose communicator can have nothing before its request is complete.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// Of an info with which the communicator was made; it may be null.
void take_keys(MPI_Info info, MPI_Comm comm) noexcept;
int comm_set_info(MPI_Comm comm, MPI_Info info) noexcept;
int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* fresh) noexcept;

}  // namespace telpher::mpi
