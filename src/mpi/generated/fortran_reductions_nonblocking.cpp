// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Collective communication that reduces (chapter 6):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Ireduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 int root, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request)
      : pmpi::Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

int PMPI_Iallreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                    MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int PMPI_Ireduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                               MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request)
          : pmpi::Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}

int PMPI_Ireduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request)
      : pmpi::Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
}

int PMPI_Iscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iscan(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int PMPI_Iexscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                 MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iexscan(sendbuf, recvbuf, count, datatype, op, comm, request);
}

#if TELPHER_HOST_HAS_Ireduce_c  // large counts, MPI 4.0

int PMPI_Ireduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request)
      : pmpi::Ireduce_c(sendbuf, recvbuf, count, datatype, op, root, comm, request);
}

int PMPI_Iallreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int PMPI_Ireduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request)
          : pmpi::Ireduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm, request);
}

int PMPI_Ireduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request)
      : pmpi::Ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request);
}

int PMPI_Iscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

int PMPI_Iexscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request)
      : pmpi::Iexscan_c(sendbuf, recvbuf, count, datatype, op, comm, request);
}

#endif  // TELPHER_HOST_HAS_Ireduce_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
