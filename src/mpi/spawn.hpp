// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_spawn and MPI_Comm_spawn_multiple. Launchers give new processes their own environment,
// not that of the rank that spawns them, and know no common info key for it: so where this library
// was preloaded, or loaded by telpher.preload(), the command becomes `env LD_PRELOAD=...
// TELPHER_...=... command`, which every launcher can start. A command that is not found here is
// left as it is: the host MPI says so.
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::mpi {

int comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root,
               MPI_Comm comm, MPI_Comm* intercomm, int* errcodes) noexcept;
int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                        const MPI_Info* infos, int root, MPI_Comm comm, MPI_Comm* intercomm,
                        int* errcodes) noexcept;

}  // namespace telpher::mpi
