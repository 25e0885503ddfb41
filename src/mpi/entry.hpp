// SPDX-License-Identifier: BSD-3-Clause
// What every wrapper asks first, and the border between statuses and MPI error codes.
#pragma once

#include "base/short_way.hpp"
#include "base/status.hpp"
#include "host_mpi/error.hpp"
#include "host_mpi/reserve.hpp"
#include "ticket/blocking_call.hpp"

namespace telpher::entry {

/// True between MPI_Init and MPI_Finalize in a job where some rank has a device. While it is false
/// every wrapper goes straight to the host MPI.
inline bool active() noexcept {
  return !short_way::any(short_way::inactive);
}

/// Bodies of MPI_Init, MPI_Init_thread and MPI_Finalize.
int init(int* argc, char*** argv) noexcept;
int init_thread(int* argc, char*** argv, int required, int* provided) noexcept;
int finalize() noexcept;

/// Joins the job, by MPI_Init or by the first communicator of a session that has all processes.
void start(bool threaded, MPI_Comm world) noexcept;
bool has_joined() noexcept;
/// Local: serves device memory of this process alone until it joins the job, if it has not.
void wait_for_job() noexcept;
/// Leaves it. Collective over the job; before the host MPI's end.
void shut_down() noexcept;

using host_mpi::fail;
using ticket::blocking_call;

/// The error that the host MPI raises on `comm` for a count and a type, or MPI_SUCCESS.
int host_refuses(MPI_Comm comm, int count, MPI_Datatype type) noexcept;

/// For a buffer that cannot be described: the error that the host MPI raises on `comm` for this
/// count and type, or, where it finds nothing wrong with them, that of `s`.
int refuse_buffer(MPI_Comm comm, const char* call, status s, MPI_Count count,
                  MPI_Datatype type) noexcept;

[[gnu::cold, gnu::noinline]] int refuse_unless_freed(const host_mpi::error_owner& owner,
                                                     const char* call) noexcept;
/// Before a message or a non-blocking collective begins: MPI_SUCCESS, or MPI_ERR_NO_MEM, raised,
/// while the host's memory is short (host_mpi/reserve.hpp).
inline int refuse_if_short(const host_mpi::error_owner& owner, const char* call) noexcept {
  return host_mpi::memory_is_short() ? refuse_unless_freed(owner, call) : MPI_SUCCESS;
}

/// Before a non-blocking collective of the host MPI on the communicator: those deferred go first.
void keep_order(MPI_Comm comm) noexcept;

/// Forgets what is kept for a communicator that the program is about to free or disconnect.
void comm_freed(MPI_Comm comm) noexcept;
/// Collective over a new communicator; MPI_COMM_NULL does nothing.
void comm_made(MPI_Comm comm) noexcept;
/// The code of a call that makes a communicator, which is noted while this process waits for its
/// job; with Telpher inactive, too.
inline int noting(int code, const MPI_Comm* made) noexcept {
  if (ticket::job().waits && code == MPI_SUCCESS) [[unlikely]]
    host_mpi::note_made(ticket::job(), *made);
  return code;
}

}  // namespace telpher::entry
