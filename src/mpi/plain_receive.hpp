// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program that keeps to host memory. They cost little more than the host MPI's own:
// they are its own while no ticket can come for them (ticket/plain_receives.hpp). A blocking one
// that a ticket may meet needs no record while nothing else is under way.
#pragma once

#include "mpi/pt2pt.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi {

/// MPI_Irecv as the host MPI's own. False: this receive is not of that kind, and nothing was done.
bool post_plain(const pt2pt::receive_args& a, MPI_Request* request, int* rc) noexcept;

/// Receives into contiguous host memory; under the engine's lock, while the engine is idle. With
/// `beside`, of host memory, it is an MPI_Sendrecv. False: this receive is not of that kind, and
/// nothing was done.
bool receive_plain(const pt2pt::receive_args& a, const pt2pt::send_args* beside, MPI_Status* status,
                   int* rc) noexcept;

}  // namespace telpher::mpi
