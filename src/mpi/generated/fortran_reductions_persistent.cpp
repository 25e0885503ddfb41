// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Collective communication that reduces (chapter 6):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

#if TELPHER_HOST_HAS_Reduce_init  // MPI 4.0

int PMPI_Reduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request)
      : pmpi::Reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}

int PMPI_Allreduce_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int PMPI_Reduce_scatter_block_init(const void* sendbuf, void* recvbuf, int recvcount,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
                                      request)
                                          : pmpi::Reduce_scatter_block_init(sendbuf, recvbuf,
                                                                            recvcount, datatype, op,
                                                                            comm, info, request);
}

int PMPI_Reduce_scatter_init(const void* sendbuf, void* recvbuf, const int recvcounts[],
                             MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request)
          : pmpi::Reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                      request);
}

int PMPI_Scan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int PMPI_Exscan_init(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

#endif  // TELPHER_HOST_HAS_Reduce_init

#if TELPHER_HOST_HAS_Reduce_init_c  // large counts, MPI 4.0

int PMPI_Reduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request)
          : pmpi::Reduce_init_c(sendbuf, recvbuf, count, datatype, op, root, comm, info, request);
}

int PMPI_Allreduce_init_c(const void* sendbuf, void* recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int PMPI_Reduce_scatter_block_init_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Reduce_scatter_block_init_c(sendbuf, recvbuf, recvcount, datatype, op, comm, info,
                                        request)
                                            : pmpi::Reduce_scatter_block_init_c(sendbuf, recvbuf,
                                                                                recvcount, datatype,
                                                                                op, comm, info,
                                                                                request);
}

int PMPI_Reduce_scatter_init_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request)
          : pmpi::Reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info,
                                        request);
}

int PMPI_Scan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Scan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

int PMPI_Exscan_init_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request)
      : pmpi::Exscan_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request);
}

#endif  // TELPHER_HOST_HAS_Reduce_init_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
