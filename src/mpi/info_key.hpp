// SPDX-License-Identifier: BSD-3-Clause
// What Telpher reads of a communicator's info. Its key `telpher_compression` decides on compression
// for the communicator's messages in place of the setting; `telpher_stream` names a stream that its
// calls wait for; `mpi_assert_memory_alloc_kinds` may spare look-ups of pointers. Host MPIs drop
// keys that they do not know, so Telpher reads the info itself. Not that of
// MPI_Comm_idup_with_info, whose communicator can have nothing before its request is complete.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// Of the info that the communicator was made with or has been given; either may be null.
void take_keys(MPI_Info info, MPI_Comm comm) noexcept;

}  // namespace telpher::mpi
