// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the wrappers of the Sessions model. A program that never calls MPI_Init joins the job
// with the first communicator that it makes of all processes of mpi://WORLD: only there all of them
// are known to take part. From its first communicator of fewer processes until then it waits for
// the job, and device memory goes through host memory (host_mpi/job.hpp). Both end with the last
// session, or, where MPI_Init made the job, with MPI_Finalize.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::sessions {

/// In MPI_Finalize: a session made the job, and one is open.
bool keep_job() noexcept;

#if TELPHER_HOST_HAS_Session_init
int init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) noexcept;
int finalize(MPI_Session* session) noexcept;
int comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                           MPI_Errhandler errhandler, MPI_Comm* newcomm) noexcept;
int intercomm_create_from_groups(MPI_Group local, int local_leader, MPI_Group remote,
                                 int remote_leader, const char* stringtag, MPI_Info info,
                                 MPI_Errhandler errhandler, MPI_Comm* newcomm) noexcept;
#endif

}  // namespace telpher::sessions
