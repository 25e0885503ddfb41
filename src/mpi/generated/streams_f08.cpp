// SPDX-License-Identifier: BSD-3-Clause
// generated from stream.h by generate.py; do not edit
// The functions of include/telpher/telpher_f08.f90. Not for the standard ABI: there was no mpi_f08 to try it with.
#ifndef MPI_ABI
#include "mpi/f08.hpp"

using namespace telpher;

extern "C" {

#pragma GCC visibility push(default)

void telpher_f08_stream_set(const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_stream_set", ierror, [&] {
    return telpher_stream_set(f08::comm(comm), stream);
  });
}

void telpher_f08_stream_unset(const MPI_Fint* comm, int* ierror) {
  f08::call("telpher_stream_unset", ierror, [&] {
    return telpher_stream_unset(f08::comm(comm));
  });
}

void telpher_f08_stream_get(const MPI_Fint* comm, void** stream, bool* flag, int* ierror) {
  f08::call("telpher_stream_get", ierror, [&] {
    return telpher_stream_get(f08::comm(comm), stream, f08::flag(flag));
  });
}

void telpher_f08_send_enqueue(const void* buf, const int* count, const MPI_Fint* datatype,
                              const int* dest, const int* tag, const MPI_Fint* comm, void* stream,
                              int* ierror) {
  f08::call("telpher_send_enqueue", ierror, [&] {
    return telpher_send_enqueue(f08::buffer(buf), *count, f08::type(datatype), *dest, *tag,
                                f08::comm(comm), stream);
  });
}

void telpher_f08_recv_enqueue(void* buf, const int* count, const MPI_Fint* datatype,
                              const int* source, const int* tag, const MPI_Fint* comm,
                              MPI_Status* status, void* stream, int* ierror) {
  f08::call("telpher_recv_enqueue", ierror, [&] {
    return telpher_recv_enqueue(f08::buffer(buf), *count, f08::type(datatype), *source, *tag,
                                f08::comm(comm), f08::status(status), stream);
  });
}

void telpher_f08_sendrecv_enqueue(const void* sendbuf, const int* sendcount,
                                  const MPI_Fint* sendtype, const int* dest, const int* sendtag,
                                  void* recvbuf, const int* recvcount, const MPI_Fint* recvtype,
                                  const int* source, const int* recvtag, const MPI_Fint* comm,
                                  MPI_Status* status, void* stream, int* ierror) {
  f08::call("telpher_sendrecv_enqueue", ierror, [&] {
    return telpher_sendrecv_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype), *dest,
                                    *sendtag, f08::buffer(recvbuf), *recvcount, f08::type(recvtype),
                                    *source, *recvtag, f08::comm(comm), f08::status(status),
                                    stream);
  });
}

void telpher_f08_isend_enqueue(const void* buf, const int* count, const MPI_Fint* datatype,
                               const int* dest, const int* tag, const MPI_Fint* comm,
                               MPI_Fint* request, void* stream, int* ierror) {
  f08::call("telpher_isend_enqueue", ierror, [&] {
    return telpher_isend_enqueue(f08::buffer(buf), *count, f08::type(datatype), *dest, *tag,
                                 f08::comm(comm), f08::new_request(request).data(), stream);
  });
}

void telpher_f08_irecv_enqueue(void* buf, const int* count, const MPI_Fint* datatype,
                               const int* source, const int* tag, const MPI_Fint* comm,
                               MPI_Fint* request, void* stream, int* ierror) {
  f08::call("telpher_irecv_enqueue", ierror, [&] {
    return telpher_irecv_enqueue(f08::buffer(buf), *count, f08::type(datatype), *source, *tag,
                                 f08::comm(comm), f08::new_request(request).data(), stream);
  });
}

void telpher_f08_wait_enqueue(MPI_Fint* request, MPI_Status* status, void* stream, int* ierror) {
  f08::call("telpher_wait_enqueue", ierror, [&] {
    return telpher_wait_enqueue(f08::own_requests(request, 1).data(), f08::status(status), stream);
  });
}

void telpher_f08_waitall_enqueue(const int* count, MPI_Fint* requests, MPI_Status* statuses,
                                 void* stream, int* ierror) {
  f08::call("telpher_waitall_enqueue", ierror, [&] {
    return telpher_waitall_enqueue(*count, f08::own_requests(requests, *count).data(),
                                   f08::status(statuses), stream);
  });
}

void telpher_f08_start_enqueue(const MPI_Fint* request, void* stream, int* ierror) {
  f08::call("telpher_start_enqueue", ierror, [&] {
    return telpher_start_enqueue(f08::request(request), stream);
  });
}

void telpher_f08_startall_enqueue(const int* count, const MPI_Fint* requests, void* stream,
                                  int* ierror) {
  f08::call("telpher_startall_enqueue", ierror, [&] {
    return telpher_startall_enqueue(*count, f08::requests(requests, *count).data(), stream);
  });
}

void telpher_f08_pready_enqueue(const int* partition, const MPI_Fint* request, void* stream,
                                int* ierror) {
  f08::call("telpher_pready_enqueue", ierror, [&] {
    return telpher_pready_enqueue(*partition, f08::request(request), stream);
  });
}

void telpher_f08_matched_send_init(const void* buf, const int* count, const MPI_Fint* datatype,
                                   const int* dest, const int* tag, const MPI_Fint* comm,
                                   MPI_Fint* request, int* ierror) {
  f08::call("telpher_matched_send_init", ierror, [&] {
    return telpher_matched_send_init(f08::buffer(buf), *count, f08::type(datatype), *dest, *tag,
                                     f08::comm(comm), f08::new_request(request).data());
  });
}

void telpher_f08_matched_recv_init(void* buf, const int* count, const MPI_Fint* datatype,
                                   const int* source, const int* tag, const MPI_Fint* comm,
                                   MPI_Fint* request, int* ierror) {
  f08::call("telpher_matched_recv_init", ierror, [&] {
    return telpher_matched_recv_init(f08::buffer(buf), *count, f08::type(datatype), *source, *tag,
                                     f08::comm(comm), f08::new_request(request).data());
  });
}

void telpher_f08_match(const int* count, const MPI_Fint* requests, int* ierror) {
  f08::call("telpher_match", ierror, [&] {
    return telpher_match(*count, f08::requests(requests, *count).data());
  });
}

void telpher_f08_partitions_device(const MPI_Fint* request,
                                   const telpher_device_partitions** handle, int* ierror) {
  f08::call("telpher_partitions_device", ierror, [&] {
    return telpher_partitions_device(f08::request(request), handle);
  });
}

void telpher_f08_barrier_enqueue(const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_barrier_enqueue", ierror, [&] {
    return telpher_barrier_enqueue(f08::comm(comm), stream);
  });
}

void telpher_f08_bcast_enqueue(void* buffer, const int* count, const MPI_Fint* datatype,
                               const int* root, const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_bcast_enqueue", ierror, [&] {
    return telpher_bcast_enqueue(f08::buffer(buffer), *count, f08::type(datatype), *root,
                                 f08::comm(comm), stream);
  });
}

void telpher_f08_gather_enqueue(const void* sendbuf, const int* sendcount, const MPI_Fint* sendtype,
                                void* recvbuf, const int* recvcount, const MPI_Fint* recvtype,
                                const int* root, const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_gather_enqueue", ierror, [&] {
    return telpher_gather_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                  f08::buffer(recvbuf), *recvcount, f08::type(recvtype), *root,
                                  f08::comm(comm), stream);
  });
}

void telpher_f08_gatherv_enqueue(const void* sendbuf, const int* sendcount,
                                 const MPI_Fint* sendtype, void* recvbuf, const int* recvcounts,
                                 const int* displs, const MPI_Fint* recvtype, const int* root,
                                 const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_gatherv_enqueue", ierror, [&] {
    return telpher_gatherv_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                   f08::buffer(recvbuf), recvcounts, displs, f08::type(recvtype),
                                   *root, f08::comm(comm), stream);
  });
}

void telpher_f08_scatter_enqueue(const void* sendbuf, const int* sendcount,
                                 const MPI_Fint* sendtype, void* recvbuf, const int* recvcount,
                                 const MPI_Fint* recvtype, const int* root, const MPI_Fint* comm,
                                 void* stream, int* ierror) {
  f08::call("telpher_scatter_enqueue", ierror, [&] {
    return telpher_scatter_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                   f08::buffer(recvbuf), *recvcount, f08::type(recvtype), *root,
                                   f08::comm(comm), stream);
  });
}

void telpher_f08_scatterv_enqueue(const void* sendbuf, const int* sendcounts, const int* displs,
                                  const MPI_Fint* sendtype, void* recvbuf, const int* recvcount,
                                  const MPI_Fint* recvtype, const int* root, const MPI_Fint* comm,
                                  void* stream, int* ierror) {
  f08::call("telpher_scatterv_enqueue", ierror, [&] {
    return telpher_scatterv_enqueue(f08::buffer(sendbuf), sendcounts, displs, f08::type(sendtype),
                                    f08::buffer(recvbuf), *recvcount, f08::type(recvtype), *root,
                                    f08::comm(comm), stream);
  });
}

void telpher_f08_allgather_enqueue(const void* sendbuf, const int* sendcount,
                                   const MPI_Fint* sendtype, void* recvbuf, const int* recvcount,
                                   const MPI_Fint* recvtype, const MPI_Fint* comm, void* stream,
                                   int* ierror) {
  f08::call("telpher_allgather_enqueue", ierror, [&] {
    return telpher_allgather_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                     f08::buffer(recvbuf), *recvcount, f08::type(recvtype),
                                     f08::comm(comm), stream);
  });
}

void telpher_f08_allgatherv_enqueue(const void* sendbuf, const int* sendcount,
                                    const MPI_Fint* sendtype, void* recvbuf, const int* recvcounts,
                                    const int* displs, const MPI_Fint* recvtype,
                                    const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_allgatherv_enqueue", ierror, [&] {
    return telpher_allgatherv_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                      f08::buffer(recvbuf), recvcounts, displs, f08::type(recvtype),
                                      f08::comm(comm), stream);
  });
}

void telpher_f08_alltoall_enqueue(const void* sendbuf, const int* sendcount,
                                  const MPI_Fint* sendtype, void* recvbuf, const int* recvcount,
                                  const MPI_Fint* recvtype, const MPI_Fint* comm, void* stream,
                                  int* ierror) {
  f08::call("telpher_alltoall_enqueue", ierror, [&] {
    return telpher_alltoall_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                    f08::buffer(recvbuf), *recvcount, f08::type(recvtype),
                                    f08::comm(comm), stream);
  });
}

void telpher_f08_alltoallv_enqueue(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                   const MPI_Fint* sendtype, void* recvbuf, const int* recvcounts,
                                   const int* rdispls, const MPI_Fint* recvtype,
                                   const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_alltoallv_enqueue", ierror, [&] {
    return telpher_alltoallv_enqueue(f08::buffer(sendbuf), sendcounts, sdispls, f08::type(sendtype),
                                     f08::buffer(recvbuf), recvcounts, rdispls, f08::type(recvtype),
                                     f08::comm(comm), stream);
  });
}

void telpher_f08_alltoallw_enqueue(const void* sendbuf, const int* sendcounts, const int* sdispls,
                                   const MPI_Fint* sendtypes, void* recvbuf, const int* recvcounts,
                                   const int* rdispls, const MPI_Fint* recvtypes,
                                   const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_alltoallw_enqueue", ierror, [&] {
    return telpher_alltoallw_enqueue(f08::buffer(sendbuf), sendcounts, sdispls,
                                     f08::types(sendtypes, f08::sends(sendbuf, comm)).data(),
                                     f08::buffer(recvbuf), recvcounts, rdispls,
                                     f08::types(recvtypes, mpi::peers_of(f08::comm(comm))).data(),
                                     f08::comm(comm), stream);
  });
}

void telpher_f08_reduce_enqueue(const void* sendbuf, void* recvbuf, const int* count,
                                const MPI_Fint* datatype, const MPI_Fint* op, const int* root,
                                const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_reduce_enqueue", ierror, [&] {
    return telpher_reduce_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf), *count,
                                  f08::type(datatype), f08::op(op), *root, f08::comm(comm), stream);
  });
}

void telpher_f08_allreduce_enqueue(const void* sendbuf, void* recvbuf, const int* count,
                                   const MPI_Fint* datatype, const MPI_Fint* op,
                                   const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_allreduce_enqueue", ierror, [&] {
    return telpher_allreduce_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf), *count,
                                     f08::type(datatype), f08::op(op), f08::comm(comm), stream);
  });
}

void telpher_f08_reduce_scatter_block_enqueue(const void* sendbuf, void* recvbuf,
                                              const int* recvcount, const MPI_Fint* datatype,
                                              const MPI_Fint* op, const MPI_Fint* comm,
                                              void* stream, int* ierror) {
  f08::call("telpher_reduce_scatter_block_enqueue", ierror, [&] {
    return telpher_reduce_scatter_block_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf),
                                                *recvcount, f08::type(datatype), f08::op(op),
                                                f08::comm(comm), stream);
  });
}

void telpher_f08_reduce_scatter_enqueue(const void* sendbuf, void* recvbuf, const int* recvcounts,
                                        const MPI_Fint* datatype, const MPI_Fint* op,
                                        const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_reduce_scatter_enqueue", ierror, [&] {
    return telpher_reduce_scatter_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf), recvcounts,
                                          f08::type(datatype), f08::op(op), f08::comm(comm),
                                          stream);
  });
}

void telpher_f08_scan_enqueue(const void* sendbuf, void* recvbuf, const int* count,
                              const MPI_Fint* datatype, const MPI_Fint* op, const MPI_Fint* comm,
                              void* stream, int* ierror) {
  f08::call("telpher_scan_enqueue", ierror, [&] {
    return telpher_scan_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf), *count,
                                f08::type(datatype), f08::op(op), f08::comm(comm), stream);
  });
}

void telpher_f08_exscan_enqueue(const void* sendbuf, void* recvbuf, const int* count,
                                const MPI_Fint* datatype, const MPI_Fint* op, const MPI_Fint* comm,
                                void* stream, int* ierror) {
  f08::call("telpher_exscan_enqueue", ierror, [&] {
    return telpher_exscan_enqueue(f08::buffer(sendbuf), f08::buffer(recvbuf), *count,
                                  f08::type(datatype), f08::op(op), f08::comm(comm), stream);
  });
}

void telpher_f08_neighbor_allgather_enqueue(const void* sendbuf, const int* sendcount,
                                            const MPI_Fint* sendtype, void* recvbuf,
                                            const int* recvcount, const MPI_Fint* recvtype,
                                            const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_neighbor_allgather_enqueue", ierror, [&] {
    return telpher_neighbor_allgather_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                              f08::buffer(recvbuf), *recvcount, f08::type(recvtype),
                                              f08::comm(comm), stream);
  });
}

void telpher_f08_neighbor_allgatherv_enqueue(const void* sendbuf, const int* sendcount,
                                             const MPI_Fint* sendtype, void* recvbuf,
                                             const int* recvcounts, const int* displs,
                                             const MPI_Fint* recvtype, const MPI_Fint* comm,
                                             void* stream, int* ierror) {
  f08::call("telpher_neighbor_allgatherv_enqueue", ierror, [&] {
    return telpher_neighbor_allgatherv_enqueue(f08::buffer(sendbuf), *sendcount,
                                               f08::type(sendtype), f08::buffer(recvbuf),
                                               recvcounts, displs, f08::type(recvtype),
                                               f08::comm(comm), stream);
  });
}

void telpher_f08_neighbor_alltoall_enqueue(const void* sendbuf, const int* sendcount,
                                           const MPI_Fint* sendtype, void* recvbuf,
                                           const int* recvcount, const MPI_Fint* recvtype,
                                           const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_neighbor_alltoall_enqueue", ierror, [&] {
    return telpher_neighbor_alltoall_enqueue(f08::buffer(sendbuf), *sendcount, f08::type(sendtype),
                                             f08::buffer(recvbuf), *recvcount, f08::type(recvtype),
                                             f08::comm(comm), stream);
  });
}

void telpher_f08_neighbor_alltoallv_enqueue(const void* sendbuf, const int* sendcounts,
                                            const int* sdispls, const MPI_Fint* sendtype,
                                            void* recvbuf, const int* recvcounts,
                                            const int* rdispls, const MPI_Fint* recvtype,
                                            const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_neighbor_alltoallv_enqueue", ierror, [&] {
    return telpher_neighbor_alltoallv_enqueue(f08::buffer(sendbuf), sendcounts, sdispls,
                                              f08::type(sendtype), f08::buffer(recvbuf), recvcounts,
                                              rdispls, f08::type(recvtype), f08::comm(comm),
                                              stream);
  });
}

void telpher_f08_neighbor_alltoallw_enqueue(const void* sendbuf, const int* sendcounts,
                                            const MPI_Aint* sdispls, const MPI_Fint* sendtypes,
                                            void* recvbuf, const int* recvcounts,
                                            const MPI_Aint* rdispls, const MPI_Fint* recvtypes,
                                            const MPI_Fint* comm, void* stream, int* ierror) {
  f08::call("telpher_neighbor_alltoallw_enqueue", ierror, [&] {
    return telpher_neighbor_alltoallw_enqueue(f08::buffer(sendbuf), sendcounts, sdispls,
                                              f08::types(sendtypes,
                                                         mpi::degrees(f08::comm(comm)).out).data(),
                                              f08::buffer(recvbuf), recvcounts, rdispls,
                                              f08::types(recvtypes,
                                                         mpi::degrees(f08::comm(comm)).in).data(),
                                              f08::comm(comm), stream);
  });
}

#pragma GCC visibility pop

}  // extern "C"
#endif
