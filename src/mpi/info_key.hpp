// SPDX-License-Identifier: BSD-3-Clause
// The calls that give a communicator an info: the key `telpher_compression` in it decides for the
// communicator's messages in place of the setting, `telpher_stream` names a stream that its calls
// wait for. Hosts drop keys that they do not know, so it is
// read on the way there.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

int comm_set_info(MPI_Comm comm, MPI_Info info) noexcept;
int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* fresh) noexcept;

}  // namespace telpher::mpi
