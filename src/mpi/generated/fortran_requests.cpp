// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Completion of requests (chapter 3):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Wait(request, status) : pmpi::Wait(request, status);
}

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Test(request, flag, status) : pmpi::Test(request, flag, status);
}

int PMPI_Request_free(MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Request_free(request) : pmpi::Request_free(request);
}

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Waitany(count, array_of_requests, index, status)
      : pmpi::Waitany(count, array_of_requests, index, status);
}

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag,
                 MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Testany(count, array_of_requests, index, flag, status)
      : pmpi::Testany(count, array_of_requests, index, flag, status);
}

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Waitall(count, array_of_requests, array_of_statuses)
      : pmpi::Waitall(count, array_of_requests, array_of_statuses);
}

int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag,
                 MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Testall(count, array_of_requests, flag, array_of_statuses)
      : pmpi::Testall(count, array_of_requests, flag, array_of_statuses);
}

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)
          : pmpi::Waitsome(incount, array_of_requests, outcount, array_of_indices,
                           array_of_statuses);
}

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Testsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)
          : pmpi::Testsome(incount, array_of_requests, outcount, array_of_indices,
                           array_of_statuses);
}

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Request_get_status(request, flag, status)
      : pmpi::Request_get_status(request, flag, status);
}

int PMPI_Cancel(MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Cancel(request) : pmpi::Cancel(request);
}

int PMPI_Start(MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Start(request) : pmpi::Start(request);
}

int PMPI_Startall(int count, MPI_Request array_of_requests[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Startall(count, array_of_requests)
      : pmpi::Startall(count, array_of_requests);
}

#if TELPHER_HOST_HAS_Request_get_status_any  // MPI 4.1

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* index,
                                int* flag, MPI_Status* status) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Request_get_status_any(count, array_of_requests, index, flag, status)
      : pmpi::Request_get_status_any(count, array_of_requests, index, flag, status);
}

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                                MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Request_get_status_all(count, array_of_requests, flag, array_of_statuses)
      : pmpi::Request_get_status_all(count, array_of_requests, flag, array_of_statuses);
}

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                                 int array_of_indices[], MPI_Status array_of_statuses[]) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Request_get_status_some(incount, array_of_requests, outcount, array_of_indices,
                                    array_of_statuses)
                                        : pmpi::Request_get_status_some(incount, array_of_requests,
                                                                        outcount, array_of_indices,
                                                                        array_of_statuses);
}

#endif  // TELPHER_HOST_HAS_Request_get_status_any

}  // extern "C"

#endif  // !defined(MPI_ABI)
