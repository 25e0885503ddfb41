// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Collective communication that reduces (chapter 6):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, comm)
      : pmpi::Reduce(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Reduce_local(const void* inbuf, void* inoutbuf, int count, MPI_Datatype datatype,
                      MPI_Op op) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_local(inbuf, inoutbuf, count, datatype, op)
      : pmpi::Reduce_local(inbuf, inoutbuf, count, datatype, op);
}

int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount,
                              MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm)
      : pmpi::Reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[],
                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm)
      : pmpi::Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Scan(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Scan(sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Exscan(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Exscan(sendbuf, recvbuf, count, datatype, op, comm);
}

#if TELPHER_HOST_HAS_Reduce_c  // large counts, MPI 4.0

int PMPI_Reduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm)
      : pmpi::Reduce_c(sendbuf, recvbuf, count, datatype, op, root, comm);
}

int PMPI_Allreduce_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Reduce_local_c(const void* inbuf, void* inoutbuf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Op op) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_local_c(inbuf, inoutbuf, count, datatype, op)
      : pmpi::Reduce_local_c(inbuf, inoutbuf, count, datatype, op);
}

int PMPI_Reduce_scatter_block_c(const void* sendbuf, void* recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm)
      : pmpi::Reduce_scatter_block_c(sendbuf, recvbuf, recvcount, datatype, op, comm);
}

int PMPI_Reduce_scatter_c(const void* sendbuf, void* recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm)
      : pmpi::Reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm);
}

int PMPI_Scan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Scan_c(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Scan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

int PMPI_Exscan_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Exscan_c(sendbuf, recvbuf, count, datatype, op, comm)
      : pmpi::Exscan_c(sendbuf, recvbuf, count, datatype, op, comm);
}

#endif  // TELPHER_HOST_HAS_Reduce_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
