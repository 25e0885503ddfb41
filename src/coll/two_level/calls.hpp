// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of communicators that span nodes, with the arguments of MPI's. True: done,
// `*code` is to be returned; false, at all ranks alike: stage the call.
#pragma once

#include <memory>

#include "coll/between/crossing.hpp"
#include "coll/two_level/numbers.hpp"
#include "host_mpi/host_mpi.hpp"

namespace telpher::coll::two_level {

bool allreduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm, int* code) noexcept;

/// A non-blocking call that runs so, or null: initiate it in the host MPI.
std::shared_ptr<between::crossing> iallreduce(const void* send, void* receive, MPI_Count count,
                                              MPI_Datatype type, MPI_Op op, MPI_Comm comm) noexcept;

bool bcast(void* buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm,
           int* code) noexcept;
bool reduce(const void* send, void* receive, MPI_Count count, MPI_Datatype type, MPI_Op op,
            int root, MPI_Comm comm, int* code) noexcept;
bool reduce_scatter_block(const void* send, void* receive, MPI_Count count, MPI_Datatype type,
                          MPI_Op op, MPI_Comm comm, int* code) noexcept;
bool reduce_scatter(const void* send, void* receive, numbers counts, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm, int* code) noexcept;
bool allgather(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
               MPI_Count count, MPI_Datatype type, MPI_Comm comm, int* code) noexcept;
bool alltoall(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
              MPI_Count count, MPI_Datatype type, MPI_Comm comm, int* code) noexcept;
bool allgatherv(const void* send, MPI_Count send_count, MPI_Datatype send_type, void* receive,
                numbers counts, numbers displacements, MPI_Datatype type, MPI_Comm comm,
                int* code) noexcept;
bool alltoallv(const void* send, numbers send_counts, numbers send_displacements,
               MPI_Datatype send_type, void* receive, numbers counts, numbers displacements,
               MPI_Datatype type, MPI_Comm comm, int* code) noexcept;

}  // namespace telpher::coll::two_level
