// SPDX-License-Identifier: BSD-3-Clause
// The neighbourhood collectives of telpher/stream.h: the non-blocking form of each, issued by the
// proxy. Arrays are copied.
#include "coll/regions.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/entry.hpp"
#include "mpi/own.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

using namespace telpher;
using mpi::copied;

namespace {

/// The lengths of a call's arrays; 0 where there is no telling, and the call will fail.
struct degrees {
  explicit degrees(MPI_Comm comm) noexcept {
    if (!entry::active() || comm == MPI_COMM_NULL) return;
    const coll::group ranks(comm);
    in = ranks.in_degree();
    out = ranks.out_degree();
  }
  int in = 0, out = 0;
};

}  // namespace

extern "C" {

int telpher_neighbor_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm comm, void* native) {
  return mpi::enqueue("telpher_neighbor_allgather_enqueue", comm, native, MPI_STATUS_IGNORE,
                      [=](MPI_Request* made) {
                        return own_Ineighbor_allgather(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype, comm, made);
                      });
}

int telpher_neighbor_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, const int recvcounts[], const int displs[],
                                        MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const degrees n(comm);
  return mpi::enqueue("telpher_neighbor_allgatherv_enqueue", comm, native, MPI_STATUS_IGNORE,
                      [=, own_recvcounts = copied(recvcounts, n.in),
                       own_displs = copied(displs, n.in)](MPI_Request* made) {
                        return own_Ineighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf,
                                                        own_recvcounts.data(), own_displs.data(),
                                                        recvtype, comm, made);
                      });
}

int telpher_neighbor_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, void* native) {
  return mpi::enqueue("telpher_neighbor_alltoall_enqueue", comm, native, MPI_STATUS_IGNORE,
                      [=](MPI_Request* made) {
                        return own_Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, comm, made);
                      });
}

int telpher_neighbor_alltoallv_enqueue(const void* sendbuf, const int sendcounts[],
                                       const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                       const int recvcounts[], const int rdispls[],
                                       MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const degrees n(comm);
  return mpi::enqueue(
      "telpher_neighbor_alltoallv_enqueue", comm, native, MPI_STATUS_IGNORE,
      [=, own_sendcounts = copied(sendcounts, n.out), own_sdispls = copied(sdispls, n.out),
       own_recvcounts = copied(recvcounts, n.in),
       own_rdispls = copied(rdispls, n.in)](MPI_Request* made) {
        return own_Ineighbor_alltoallv(sendbuf, own_sendcounts.data(), own_sdispls.data(), sendtype,
                                       recvbuf, own_recvcounts.data(), own_rdispls.data(), recvtype,
                                       comm, made);
      });
}

int telpher_neighbor_alltoallw_enqueue(const void* sendbuf, const int sendcounts[],
                                       const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                       MPI_Comm comm, void* native) {
  const degrees n(comm);
  return mpi::enqueue(
      "telpher_neighbor_alltoallw_enqueue", comm, native, MPI_STATUS_IGNORE,
      [=, own_sendcounts = copied(sendcounts, n.out), own_sdispls = copied(sdispls, n.out),
       own_sendtypes = copied(sendtypes, n.out), own_recvcounts = copied(recvcounts, n.in),
       own_rdispls = copied(rdispls, n.in),
       own_recvtypes = copied(recvtypes, n.in)](MPI_Request* made) {
        return own_Ineighbor_alltoallw(sendbuf, own_sendcounts.data(), own_sdispls.data(),
                                       own_sendtypes.data(), recvbuf, own_recvcounts.data(),
                                       own_rdispls.data(), own_recvtypes.data(), comm, made);
      });
}

}  // extern "C"
