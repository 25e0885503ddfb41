// SPDX-License-Identifier: BSD-3-Clause
// Bodies of the wrappers that complete, test, start, cancel or free requests. Signatures are the
// standard's. All but `known` are called only while entry::active().
#pragma once

#include "host_mpi/host_mpi.hpp"

namespace telpher::requests {

/// Whether one of these requests is ours.
bool known(int count, const MPI_Request* requests) noexcept;

int wait(MPI_Request* request, MPI_Status* status) noexcept;
int waitall(int count, MPI_Request requests[], MPI_Status statuses[]) noexcept;
int waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) noexcept;
int waitsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) noexcept;
int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept;
int testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) noexcept;
int testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) noexcept;
int testsome(int incount, MPI_Request requests[], int* outcount, int indices[],
             MPI_Status statuses[]) noexcept;

int get_status(MPI_Request request, int* flag, MPI_Status* status) noexcept;
int get_status_all(int count, const MPI_Request requests[], int* flag,
                   MPI_Status statuses[]) noexcept;
int get_status_any(int count, const MPI_Request requests[], int* index, int* flag,
                   MPI_Status* status) noexcept;
int get_status_some(int incount, const MPI_Request requests[], int* outcount, int indices[],
                    MPI_Status statuses[]) noexcept;

int start(MPI_Request* request) noexcept;
int startall(int count, MPI_Request requests[]) noexcept;
int cancel(MPI_Request* request) noexcept;
int free(MPI_Request* request) noexcept;

}  // namespace telpher::requests
