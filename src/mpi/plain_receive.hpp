// SPDX-License-Identifier: BSD-3-Clause
// The blocking receive of a program that keeps to host memory, alone or with a send of host bytes:
// while nothing else is under way it needs no record, and costs little more than the host MPI's
// own.
#pragma once

#include "mpi/pt2pt.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi {

/// Receives into contiguous host memory; under the engine's lock, while the engine is idle. With
/// `beside`, of host memory, it is an MPI_Sendrecv. False: this receive is not of that kind, and
/// nothing was done.
bool receive_plain(const pt2pt::receive_args& a, const pt2pt::send_args* beside, MPI_Status* status,
                   int* rc) noexcept;

}  // namespace telpher::mpi
