// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Neighborhood collective communication on process topologies (chapter 8):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
          : pmpi::Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm);
}

int PMPI_Ineighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                request)
                                    : pmpi::Ineighbor_allgather(sendbuf, sendcount, sendtype,
                                                                recvbuf, recvcount, recvtype, comm,
                                                                request);
}

int PMPI_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                                comm)
                                    : pmpi::Neighbor_allgatherv(sendbuf, sendcount, sendtype,
                                                                recvbuf, recvcounts, displs,
                                                                recvtype, comm);
}

int PMPI_Ineighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, comm, request)
                                     : pmpi::Ineighbor_allgatherv(sendbuf, sendcount, sendtype,
                                                                  recvbuf, recvcounts, displs,
                                                                  recvtype, comm, request);
}

int PMPI_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
          : pmpi::Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm);
}

int PMPI_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                               request)
                                   : pmpi::Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                              recvcount, recvtype, comm, request);
}

int PMPI_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                               recvtype, comm)
                                   : pmpi::Neighbor_alltoallv(sendbuf, sendcounts, sdispls,
                                                              sendtype, recvbuf, recvcounts,
                                                              rdispls, recvtype, comm);
}

int PMPI_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                             const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, comm, request)
                                    : pmpi::Ineighbor_alltoallv(sendbuf, sendcounts, sdispls,
                                                                sendtype, recvbuf, recvcounts,
                                                                rdispls, recvtype, comm, request);
}

int PMPI_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                            const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                            MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                               rdispls, recvtypes, comm)
                                   : pmpi::Neighbor_alltoallw(sendbuf, sendcounts, sdispls,
                                                              sendtypes, recvbuf, recvcounts,
                                                              rdispls, recvtypes, comm);
}

int PMPI_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                             const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                             MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm, request)
                                    : pmpi::Ineighbor_alltoallw(sendbuf, sendcounts, sdispls,
                                                                sendtypes, recvbuf, recvcounts,
                                                                rdispls, recvtypes, comm, request);
}

#if TELPHER_HOST_HAS_Neighbor_allgather_init  // MPI 4.0

int PMPI_Neighbor_allgather_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm, info, request)
                                        : pmpi::Neighbor_allgather_init(sendbuf, sendcount,
                                                                        sendtype, recvbuf,
                                                                        recvcount, recvtype, comm,
                                                                        info, request);
}

int PMPI_Neighbor_allgatherv_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, const int recvcounts[], const int displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                  MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                     recvtype, comm, info, request)
                                         : pmpi::Neighbor_allgatherv_init(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcounts, displs,
                                                                          recvtype, comm, info,
                                                                          request);
}

int PMPI_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                   info, request)
                                       : pmpi::Neighbor_alltoall_init(sendbuf, sendcount, sendtype,
                                                                      recvbuf, recvcount, recvtype,
                                                                      comm, info, request);
}

int PMPI_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                 const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                    rdispls, recvtype, comm, info, request)
                                        : pmpi::Neighbor_alltoallv_init(sendbuf, sendcounts,
                                                                        sdispls, sendtype, recvbuf,
                                                                        recvcounts, rdispls,
                                                                        recvtype, comm, info,
                                                                        request);
}

int PMPI_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                                 const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                    rdispls, recvtypes, comm, info, request)
                                        : pmpi::Neighbor_alltoallw_init(sendbuf, sendcounts,
                                                                        sdispls, sendtypes, recvbuf,
                                                                        recvcounts, rdispls,
                                                                        recvtypes, comm, info,
                                                                        request);
}

#endif  // TELPHER_HOST_HAS_Neighbor_allgather_init

#if TELPHER_HOST_HAS_Neighbor_allgather_c  // large counts, MPI 4.0

int PMPI_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
          : pmpi::Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       comm);
}

int PMPI_Ineighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                  request)
                                      : pmpi::Ineighbor_allgather_c(sendbuf, sendcount, sendtype,
                                                                    recvbuf, recvcount, recvtype,
                                                                    comm, request);
}

int PMPI_Neighbor_allgather_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgather_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm, info, request)
                                          : pmpi::Neighbor_allgather_init_c(sendbuf, sendcount,
                                                                            sendtype, recvbuf,
                                                                            recvcount, recvtype,
                                                                            comm, info, request);
}

int PMPI_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                  recvtype, comm)
                                      : pmpi::Neighbor_allgatherv_c(sendbuf, sendcount, sendtype,
                                                                    recvbuf, recvcounts, displs,
                                                                    recvtype, comm);
}

int PMPI_Ineighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, comm, request)
                                       : pmpi::Ineighbor_allgatherv_c(sendbuf, sendcount, sendtype,
                                                                      recvbuf, recvcounts, displs,
                                                                      recvtype, comm, request);
}

int PMPI_Neighbor_allgatherv_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void* recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_allgatherv_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                       recvtype, comm, info, request)
                                           : pmpi::Neighbor_allgatherv_init_c(sendbuf, sendcount,
                                                                              sendtype, recvbuf,
                                                                              recvcounts, displs,
                                                                              recvtype, comm, info,
                                                                              request);
}

int PMPI_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm)
          : pmpi::Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm);
}

int PMPI_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                                 request)
                                     : pmpi::Ineighbor_alltoall_c(sendbuf, sendcount, sendtype,
                                                                  recvbuf, recvcount, recvtype,
                                                                  comm, request);
}

int PMPI_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm, info, request)
                                         : pmpi::Neighbor_alltoall_init_c(sendbuf, sendcount,
                                                                          sendtype, recvbuf,
                                                                          recvcount, recvtype, comm,
                                                                          info, request);
}

int PMPI_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                 rdispls, recvtype, comm)
                                     : pmpi::Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls,
                                                                  sendtype, recvbuf, recvcounts,
                                                                  rdispls, recvtype, comm);
}

int PMPI_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                  rdispls, recvtype, comm, request)
                                      : pmpi::Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls,
                                                                    sendtype, recvbuf, recvcounts,
                                                                    rdispls, recvtype, comm,
                                                                    request);
}

int PMPI_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                      rdispls, recvtype, comm, info, request)
                                          : pmpi::Neighbor_alltoallv_init_c(sendbuf, sendcounts,
                                                                            sdispls, sendtype,
                                                                            recvbuf, recvcounts,
                                                                            rdispls, recvtype, comm,
                                                                            info, request);
}

int PMPI_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                 rdispls, recvtypes, comm)
                                     : pmpi::Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls,
                                                                  sendtypes, recvbuf, recvcounts,
                                                                  rdispls, recvtypes, comm);
}

int PMPI_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void* recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                  rdispls, recvtypes, comm, request)
                                      : pmpi::Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls,
                                                                    sendtypes, recvbuf, recvcounts,
                                                                    rdispls, recvtypes, comm,
                                                                    request);
}

int PMPI_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void* recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                      rdispls, recvtypes, comm, info, request)
                                          : pmpi::Neighbor_alltoallw_init_c(sendbuf, sendcounts,
                                                                            sdispls, sendtypes,
                                                                            recvbuf, recvcounts,
                                                                            rdispls, recvtypes,
                                                                            comm, info, request);
}

#endif  // TELPHER_HOST_HAS_Neighbor_allgather_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
