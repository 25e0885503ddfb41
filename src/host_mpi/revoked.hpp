// SPDX-License-Identifier: BSD-3-Clause
// Revoked communicators of a host MPI that tolerates faults (ULFM: MPIX_Comm_revoke of Open MPI 5).
// Receives that are posted there end by themselves. A send of ours waits for its receiver by other
// means, so it has to ask.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::host_mpi {

/// False where the host MPI has no such communicators.
bool is_revoked(MPI_Comm comm) noexcept;

/// MPI_SUCCESS, or the host MPI's error for a revoked communicator, which it has raised.
int refuse_if_revoked(MPI_Comm comm) noexcept;

}  // namespace telpher::host_mpi
