// SPDX-License-Identifier: BSD-3-Clause
// The collectives of telpher/stream.h: the non-blocking form of each, issued by the proxy. Arrays
// are copied where they are significant.
#include <functional>

#include "mpi/array_lengths.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/own.hpp"
#include "mpi/repeated.hpp"
#pragma GCC visibility push(default)
#include "telpher/stream.h"
#pragma GCC visibility pop

using namespace telpher;
using mpi::copied;
using mpi::degrees;
using mpi::has_ranks;
using mpi::peers_of;
namespace exchange = telpher::coll::exchange;

namespace {

/// Enqueues a collective, each alone; `start` issues it.
template <class Start>
int put(const char* call, MPI_Comm comm, void* native, Start start) noexcept {
  return mpi::enqueue(call, comm, native, MPI_STATUS_IGNORE, std::move(start));
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

using exchange::bytes_of;

/// A gather or a scatter in the form that is not in place.
template <class Described>
auto taken_apart(const Described& what) noexcept {
  return exchange::described(what.what, [fill = what.fill](exchange::arguments& a) {
    fill(a);
    a.take_own_block_apart();
  });
}

}  // namespace

extern "C" {

int telpher_barrier_enqueue(MPI_Comm comm, void* native) {
  return put("telpher_barrier_enqueue", comm, native, std::bind_front(own_Ibarrier, comm));
}

int telpher_bcast_enqueue(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                          void* native) {
  return mpi::enqueue_collective("telpher_bcast_enqueue", comm, native,
                                 exchange::bcast(buffer, count, datatype, root),
                                 std::bind_front(own_Ibcast, buffer, count, datatype, root, comm));
}

int telpher_gather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           void* native) {
  const auto longest = [=](int ranks, int rank) {
    return rank == root ? bytes_of(MPI_Count{recvcount} * ranks, recvtype)
                        : bytes_of(MPI_Count{sendcount} * ranks, sendtype);
  };
  return mpi::enqueue_collective("telpher_gather_enqueue", comm, native,
                                 taken_apart(exchange::gather(sendbuf, sendcount, sendtype, recvbuf,
                                                              recvcount, recvtype, root)),
                                 longest,
                                 std::bind_front(own_Igather, sendbuf, sendcount, sendtype, recvbuf,
                                                 recvcount, recvtype, root, comm));
}

int telpher_gatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, int root, MPI_Comm comm, void* native) {
  const int n = is_root(root, comm) ? peers_of(comm) : 0;
  return put("telpher_gatherv_enqueue", comm, native,
             std::bind_front(own_Igatherv, sendbuf, sendcount, sendtype, recvbuf,
                             copied(recvcounts, n), copied(displs, n), recvtype, root, comm));
}

int telpher_scatter_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                            void* recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                            MPI_Comm comm, void* native) {
  const auto longest = [=](int ranks, int rank) {
    return rank == root ? bytes_of(MPI_Count{sendcount} * ranks, sendtype)
                        : bytes_of(MPI_Count{recvcount} * ranks, recvtype);
  };
  return mpi::enqueue_collective("telpher_scatter_enqueue", comm, native,
                                 taken_apart(exchange::scatter(sendbuf, sendcount, sendtype,
                                                               recvbuf, recvcount, recvtype, root)),
                                 longest,
                                 std::bind_front(own_Iscatter, sendbuf, sendcount, sendtype,
                                                 recvbuf, recvcount, recvtype, root, comm));
}

int telpher_scatterv_enqueue(const void* sendbuf, const int sendcounts[], const int displs[],
                             MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, int root, MPI_Comm comm, void* native) {
  const int n = is_root(root, comm) ? peers_of(comm) : 0;
  return put("telpher_scatterv_enqueue", comm, native,
             std::bind_front(own_Iscatterv, sendbuf, copied(sendcounts, n), copied(displs, n),
                             sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int telpher_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              void* native) {
  return mpi::enqueue_collective(
      "telpher_allgather_enqueue", comm, native,
      exchange::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype),
      std::bind_front(own_Iallgather, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                      comm));
}

int telpher_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                               void* recvbuf, const int recvcounts[], const int displs[],
                               MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const int n = peers_of(comm);
  return put("telpher_allgatherv_enqueue", comm, native,
             std::bind_front(own_Iallgatherv, sendbuf, sendcount, sendtype, recvbuf,
                             copied(recvcounts, n), copied(displs, n), recvtype, comm));
}

int telpher_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                             void* native) {
  return mpi::enqueue_collective(
      "telpher_alltoall_enqueue", comm, native,
      exchange::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype),
      std::bind_front(own_Ialltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                      comm));
}

int telpher_alltoallv_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                              const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                              void* native) {
  const int n = peers_of(comm), sent = sendbuf == MPI_IN_PLACE ? 0 : n;
  return put("telpher_alltoallv_enqueue", comm, native,
             std::bind_front(own_Ialltoallv, sendbuf, copied(sendcounts, sent),
                             copied(sdispls, sent), sendtype, recvbuf, copied(recvcounts, n),
                             copied(rdispls, n), recvtype, comm));
}

int telpher_alltoallw_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                              void* native) {
  const int n = peers_of(comm), sent = sendbuf == MPI_IN_PLACE ? 0 : n;
  return put(
      "telpher_alltoallw_enqueue", comm, native,
      std::bind_front(own_Ialltoallw, sendbuf, copied(sendcounts, sent), copied(sdispls, sent),
                      copied(sendtypes, sent), recvbuf, copied(recvcounts, n), copied(rdispls, n),
                      copied(recvtypes, n), comm));
}

int telpher_reduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, int root, MPI_Comm comm, void* native) {
  return mpi::enqueue_collective(
      "telpher_reduce_enqueue", comm, native,
      exchange::reduce(sendbuf, recvbuf, count, datatype, op, root),
      std::bind_front(own_Ireduce, sendbuf, recvbuf, count, datatype, op, root, comm));
}

int telpher_allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, void* native) {
  return mpi::enqueue_collective(
      "telpher_allreduce_enqueue", comm, native,
      exchange::allreduce(sendbuf, recvbuf, count, datatype, op),
      std::bind_front(own_Iallreduce, sendbuf, recvbuf, count, datatype, op, comm));
}

int telpher_reduce_scatter_block_enqueue(const void* sendbuf, void* recvbuf, int recvcount,
                                         MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                         void* native) {
  return mpi::enqueue_collective(
      "telpher_reduce_scatter_block_enqueue", comm, native,
      exchange::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op),
      std::bind_front(own_Ireduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op, comm));
}

int telpher_reduce_scatter_enqueue(const void* sendbuf, void* recvbuf, const int recvcounts[],
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, void* native) {
  const int n = ranks_of(comm);
  return put("telpher_reduce_scatter_enqueue", comm, native,
             std::bind_front(own_Ireduce_scatter, sendbuf, recvbuf, copied(recvcounts, n), datatype,
                             op, comm));
}

int telpher_scan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, void* native) {
  return mpi::enqueue_collective(
      "telpher_scan_enqueue", comm, native, exchange::scan(sendbuf, recvbuf, count, datatype, op),
      std::bind_front(own_Iscan, sendbuf, recvbuf, count, datatype, op, comm));
}

int telpher_exscan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, void* native) {
  return put("telpher_exscan_enqueue", comm, native,
             std::bind_front(own_Iexscan, sendbuf, recvbuf, count, datatype, op, comm));
}

// --- of neighbours ---

int telpher_neighbor_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                       MPI_Comm comm, void* native) {
  return put("telpher_neighbor_allgather_enqueue", comm, native,
             std::bind_front(own_Ineighbor_allgather, sendbuf, sendcount, sendtype, recvbuf,
                             recvcount, recvtype, comm));
}

int telpher_neighbor_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                        void* recvbuf, const int recvcounts[], const int displs[],
                                        MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const degrees n(comm);
  return put("telpher_neighbor_allgatherv_enqueue", comm, native,
             std::bind_front(own_Ineighbor_allgatherv, sendbuf, sendcount, sendtype, recvbuf,
                             copied(recvcounts, n.in), copied(displs, n.in), recvtype, comm));
}

int telpher_neighbor_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, int recvcount, MPI_Datatype recvtype,
                                      MPI_Comm comm, void* native) {
  return put("telpher_neighbor_alltoall_enqueue", comm, native,
             std::bind_front(own_Ineighbor_alltoall, sendbuf, sendcount, sendtype, recvbuf,
                             recvcount, recvtype, comm));
}

int telpher_neighbor_alltoallv_enqueue(const void* sendbuf, const int sendcounts[],
                                       const int sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                       const int recvcounts[], const int rdispls[],
                                       MPI_Datatype recvtype, MPI_Comm comm, void* native) {
  const degrees n(comm);
  return put("telpher_neighbor_alltoallv_enqueue", comm, native,
             std::bind_front(own_Ineighbor_alltoallv, sendbuf, copied(sendcounts, n.out),
                             copied(sdispls, n.out), sendtype, recvbuf, copied(recvcounts, n.in),
                             copied(rdispls, n.in), recvtype, comm));
}

int telpher_neighbor_alltoallw_enqueue(const void* sendbuf, const int sendcounts[],
                                       const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                       void* recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                       MPI_Comm comm, void* native) {
  const degrees n(comm);
  return put("telpher_neighbor_alltoallw_enqueue", comm, native,
             std::bind_front(own_Ineighbor_alltoallw, sendbuf, copied(sendcounts, n.out),
                             copied(sdispls, n.out), copied(sendtypes, n.out), recvbuf,
                             copied(recvcounts, n.in), copied(rdispls, n.in),
                             copied(recvtypes, n.in), comm));
}

}  // extern "C"
