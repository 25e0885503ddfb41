// SPDX-License-Identifier: BSD-3-Clause
// The collectives of telpher/stream.h: the non-blocking form of each, issued by the proxy. Arrays
// are copied where they are significant. Those of neighbourhoods are in enqueue_neighbours.cpp.
#include "coll/regions.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/entry.hpp"
#include "mpi/own.hpp"
#include "mpi/repeated.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

using namespace telpher;
using mpi::copied;
namespace exchange = telpher::coll::exchange;

namespace {

/// Enqueues a collective, each alone; `start` issues it.
template <class Start>
int put(const char* call, MPI_Comm comm, void* native, Start start) noexcept {
  return mpi::enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
}

bool has_ranks(MPI_Comm comm) noexcept {
  return entry::active() && comm != MPI_COMM_NULL;
}

/// How many ranks a rank exchanges data with; 0 where there is no telling, and the call will fail.
int peers_of(MPI_Comm comm) noexcept {
  return has_ranks(comm) ? coll::group(comm).size() : 0;
}

int ranks_of(MPI_Comm comm) noexcept {
  int size = 0;
  if (has_ranks(comm)) pmpi::Comm_size(comm, &size);
  return size;
}

/// Arrays of a rooted call count at the root alone.
bool is_root(int root, MPI_Comm comm) noexcept {
  return has_ranks(comm) && coll::group(comm).is_root(root);
}

}  // namespace

extern "C" {

int telpher_barrier_enqueue(MPI_Comm comm, void* native) {
  return put("telpher_barrier_enqueue", comm, native,
             [comm](MPI_Request* made) { return own_Ibarrier(comm, made); });
}

int telpher_bcast_enqueue(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          void* native) {
  return mpi::enqueue_collective(
      "telpher_bcast_enqueue", comm, native, exchange::bcast(buffer, count, datatype, root),
      [=](MPI_Request* made) { return own_Ibcast(buffer, count, datatype, root, comm, made); });
}

int telpher_gather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           void* native) {
  return put("telpher_gather_enqueue", comm, native, [=](MPI_Request* made) {
    return own_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                       made);
  });
}

int telpher_gatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, int root, MPI_Comm comm, void* native) {
  const int n = is_root(root, comm) ? peers_of(comm) : 0;
  return put("telpher_gatherv_enqueue", comm, native,
             [=, own_recvcounts = copied(n > 0 ? recvcounts : nullptr, n),
              own_displs = copied(n > 0 ? displs : nullptr, n)](MPI_Request* made) {
               return own_Igatherv(sendbuf, sendcount, sendtype, recvbuf, own_recvcounts.data(),
                                   own_displs.data(), recvtype, root, comm, made);
             });
}

int telpher_scatter_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm, void* native) {
  return put("telpher_scatter_enqueue", comm, native, [=](MPI_Request* made) {
    return own_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm,
                        made);
  });
}

int telpher_scatterv_enqueue(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm, void* native) {
  const int n = is_root(root, comm) ? peers_of(comm) : 0;
  return put("telpher_scatterv_enqueue", comm, native,
             [=, own_sendcounts = copied(n > 0 ? sendcounts : nullptr, n),
              own_displs = copied(n > 0 ? displs : nullptr, n)](MPI_Request* made) {
               return own_Iscatterv(sendbuf, own_sendcounts.data(), own_displs.data(), sendtype,
                                    recvbuf, recvcount, recvtype, root, comm, made);
             });
}

int telpher_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              void* native) {
  return mpi::enqueue_collective(
      "telpher_allgather_enqueue", comm, native,
      exchange::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype),
      [=](MPI_Request* made) {
        return own_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                              made);
      });
}

int telpher_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const int n = peers_of(comm);
  return put("telpher_allgatherv_enqueue", comm, native,
             [=, own_recvcounts = copied(recvcounts, n),
              own_displs = copied(displs, n)](MPI_Request* made) {
               return own_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, own_recvcounts.data(),
                                      own_displs.data(), recvtype, comm, made);
             });
}

int telpher_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             void* native) {
  return mpi::enqueue_collective(
      "telpher_alltoall_enqueue", comm, native,
      exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype),
      [=](MPI_Request* made) {
        return own_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                             made);
      });
}

int telpher_alltoallv_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              void* native) {
  const int n = peers_of(comm);
  return put("telpher_alltoallv_enqueue", comm, native,
             [=, own_sendcounts = copied(sendbuf == MPI_IN_PLACE ? nullptr : sendcounts, n),
              own_sdispls = copied(sendbuf == MPI_IN_PLACE ? nullptr : sdispls, n),
              own_recvcounts = copied(recvcounts, n),
              own_rdispls = copied(rdispls, n)](MPI_Request* made) {
               return own_Ialltoallv(sendbuf, own_sendcounts.data(), own_sdispls.data(), sendtype,
                                     recvbuf, own_recvcounts.data(), own_rdispls.data(), recvtype,
                                     comm, made);
             });
}

int telpher_alltoallw_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              void* native) {
  const int n = peers_of(comm);
  return put("telpher_alltoallw_enqueue", comm, native,
             [=, own_sendcounts = copied(sendbuf == MPI_IN_PLACE ? nullptr : sendcounts, n),
              own_sdispls = copied(sendbuf == MPI_IN_PLACE ? nullptr : sdispls, n),
              own_sendtypes = copied(sendbuf == MPI_IN_PLACE ? nullptr : sendtypes, n),
              own_recvcounts = copied(recvcounts, n), own_rdispls = copied(rdispls, n),
              own_recvtypes = copied(recvtypes, n)](MPI_Request* made) {
               return own_Ialltoallw(sendbuf, own_sendcounts.data(), own_sdispls.data(),
                                     own_sendtypes.data(), recvbuf, own_recvcounts.data(),
                                     own_rdispls.data(), own_recvtypes.data(), comm, made);
             });
}

int telpher_reduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm, void* native) {
  return put("telpher_reduce_enqueue", comm, native, [=](MPI_Request* made) {
    return own_Ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, made);
  });
}

int telpher_allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, void* native) {
  return mpi::enqueue_collective(
      "telpher_allreduce_enqueue", comm, native,
      exchange::allreduce(sendbuf, recvbuf, count, datatype, op), [=](MPI_Request* made) {
        return own_Iallreduce(sendbuf, recvbuf, count, datatype, op, comm, made);
      });
}

int telpher_reduce_scatter_block_enqueue(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                         void* native) {
  return mpi::enqueue_collective(
      "telpher_reduce_scatter_block_enqueue", comm, native,
      exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op),
      [=](MPI_Request* made) {
        return own_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, made);
      });
}

int telpher_reduce_scatter_enqueue(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, void* native) {
  const int n = ranks_of(comm);
  return put("telpher_reduce_scatter_enqueue", comm, native,
             [=, own_recvcounts = copied(recvcounts, n)](MPI_Request* made) {
               return own_Ireduce_scatter(sendbuf, recvbuf, own_recvcounts.data(), datatype, op,
                                          comm, made);
             });
}

int telpher_scan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, void* native) {
  return mpi::enqueue_collective(
      "telpher_scan_enqueue", comm, native, exchange::scan(sendbuf, recvbuf, count, datatype, op),
      [=](MPI_Request* made) {
        return own_Iscan(sendbuf, recvbuf, count, datatype, op, comm, made);
      });
}

int telpher_exscan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, void* native) {
  return put("telpher_exscan_enqueue", comm, native, [=](MPI_Request* made) {
    return own_Iexscan(sendbuf, recvbuf, count, datatype, op, comm, made);
  });
}

}  // extern "C"
