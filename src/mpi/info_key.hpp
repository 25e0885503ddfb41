// SPDX-License-Identifier: BSD-3-Clause
// The calls that give a communicator an info. Its key `telpher_compression` decides on compression
// for the communicator's messages in place of the setting; `telpher_stream` names a stream that its
// calls wait for. Host MPIs drop keys that they do not know, so Telpher reads the info first.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

int comm_set_info(MPI_Comm comm, MPI_Info info) noexcept;
int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* fresh) noexcept;

}  // namespace telpher::mpi
