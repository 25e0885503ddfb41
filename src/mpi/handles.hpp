// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: the handles that the program holds for operations of the table that no
// request of the host MPI's own could stand for. Our wrappers never ask the host MPI for one, they
// look into the table. Code that goes past the wrappers (a library that took PMPI_Wait from the MPI
// library's own handle) does, and then the operation must move and the handle must end natively:
// - MPICH asks by itself: a generalized request may have functions by which it is polled and waited
//   for (MPIX_Grequest_start). They move the operation, and complete the request.
// - Open MPI has no such functions. It calls whoever registered with its progress loop
//   (opal_progress_register); while it does so again and again, and no thread is inside Telpher,
//   some code waits past us. Operations that are done by then are completed natively, all of them:
//   for whom it waits is not known. One that the program asks our wrappers for later is an ordinary
//   request that is complete.
// Where an MPI has neither, such code waits until the program calls MPI otherwise.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

/// A handle for an operation that is entered into the table next. It is never completed by our
/// wrappers but used again, which saves the host MPI making and ending one a message.
int take_handle(MPI_Request* request) noexcept;
void give_handle(MPI_Request request) noexcept;

/// From MPI_Init on, and before the host MPI's end: ends those that are not in use.
void begin_handles() noexcept;
void end_handles() noexcept;

}  // namespace telpher::mpi
