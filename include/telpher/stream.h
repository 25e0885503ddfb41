/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stream.h: MPI in the order of a device's streams. Include mpi.h and telpher.h, or this file.
 * docs/use/streams.md has the rules; in short:
 *
 * - A stream is the vendor's handle (cudaStream_t, hipStream_t, sycl::queue*, or what
 *   telpher_stream_create gives) of a device of the active back end. Null is the default stream of
 *   the calling thread's current device; cudaStreamPerThread and hipStreamPerThread are the calling
 *   thread's own.
 * - telpher_<name>_enqueue returns at once, with one exception: while TELPHER_STREAM_AHEAD
 *   operations that hold the stream are not complete, it returns when the first of them is.
 * - The operation begins when the stream gets there. Most operations hold the stream: what is given
 *   to it later begins when the operation is complete. isend, irecv, start and pready do not: wait
 *   for their requests by telpher_wait_enqueue, or by MPI_Wait on the CPU.
 * - An enqueued send may meet MPI_Recv: only one end need be enqueued. Enqueued collectives match
 *   enqueued ones only.
 * - Buffers, and statuses that are filled, belong to the operation until the stream has passed it.
 *   So do communicators, datatypes and operations, which must not be freed before. Arrays of
 *   counts, displacements and requests are copied.
 * - Enqueued operations need MPI_THREAD_MULTIPLE: from MPI_Init_thread, or by TELPHER_STREAMS=on.
 *
 * Arguments without a comment are those of the MPI function of the same name: counts in elements of
 * the datatype, displacements as MPI counts them there. All functions return MPI error codes. For
 * an error that the call itself finds, they call the error handler of the communicator, or of
 * MPI_COMM_SELF where there is none. telpher_stream_status tells what an operation met later.
 */
#ifndef TELPHER_STREAM_H
#define TELPHER_STREAM_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names a stream for a communicator: its ordinary calls wait for the stream before they read or
 * overwrite device memory. The name is an attribute: MPI_Comm_dup and its kin copy it, other
 * constructors do not. The info key `telpher_stream` of MPI_Comm_set_info and
 * MPI_Comm_dup_with_info does the same, with the handle as printf's %p writes it.
 * telpher_stream_unset removes the name. Remove it from the communicator and its duplicates before
 * you destroy the stream. */
int telpher_stream_set(MPI_Comm comm, void* stream);
int telpher_stream_unset(MPI_Comm comm);
/* `flag` is 0, and `stream` unchanged, if no stream is named. */
int telpher_stream_get(MPI_Comm comm, void** stream, int* flag);

/* The MPI error code of the first operation of the stream that failed since the last call;
 * MPI_SUCCESS if none did. MPI_ERR_OTHER if other work of the stream failed before it. */
int telpher_stream_status(void* stream);

/* --- point to point --- */
int telpher_send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         void* stream);
int telpher_recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Status* status, void* stream);
int telpher_sendrecv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                             MPI_Comm comm, MPI_Status* status, void* stream);
int telpher_isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request, void* stream);
int telpher_irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                          MPI_Request* request, void* stream);

/* The stream waits for requests. Those of telpher_isend_enqueue and telpher_irecv_enqueue become
 * null. Persistent and partitioned ones stay, and are inactive once the stream has passed the wait
 * (those of messages that kernels move are so from the call on, so MPI_Test does not tell whether
 * the stream has passed it). Other requests are an error. */
int telpher_wait_enqueue(MPI_Request* request, MPI_Status* status, void* stream);
int telpher_waitall_enqueue(int count, MPI_Request requests[], MPI_Status statuses[], void* stream);

/* Starts of persistent and partitioned requests, and MPI_Pready, in the order of the stream. */
int telpher_start_enqueue(MPI_Request request, void* stream);
int telpher_startall_enqueue(int count, const MPI_Request requests[], void* stream);
int telpher_pready_enqueue(int partition, MPI_Request request, void* stream);

/* --- matched requests: sends and receives that are matched once and then repeated in streams ---
 * They are persistent requests. The n-th send and the n-th receive of a communicator, sender,
 * receiver and tag belong together, and meet no other message. telpher_match waits until the ranks
 * of the other ends have called it for theirs. It agrees with each how the pair is served:
 * - By the devices alone: on one node, with contiguous device memory at both ends and at most
 *   TELPHER_STREAM_MATCHED_LIMIT bytes. Then telpher_start_enqueue and telpher_wait_enqueue are
 *   kernels of their streams, on the device where the memory lies. Neither the CPU nor the host MPI
 *   takes part, a graph may hold them (with HIP, too), and MPI_THREAD_MULTIPLE is not needed.
 *   MPI_Start, MPI_Wait and MPI_Test refuse such a request.
 * - Like any persistent request: all others, and those for which telpher_match was not called at
 *   both ends.
 * A send may be complete before its receive was started. The fourth start of a send whose messages
 * nobody takes holds its stream.
 * telpher_match also takes persistent collectives (MPI_Allreduce_init and its kin, inactive); for
 * these it is collective. Where all ranks are on one node with device memory, telpher_start_enqueue
 * is one kernel, which holds its stream until the collective is complete: start several of them in
 * the same order at all ranks.
 * telpher_match fails with MPI_ERR_REQUEST for a request that is none of these, is active, was
 * matched before, or is twice in the list; with MPI_ERR_COUNT if `count` is negative.
 * The buffers stay allocated, and mapped where they are, until the request is freed: peers open them
 * once. Call MPI_Request_free when no stream and no graph uses a matched request any more, and of a
 * send when the receiver has taken its messages, too. */
int telpher_matched_send_init(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                              MPI_Request* request);
int telpher_matched_recv_init(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                              MPI_Request* request);
int telpher_match(int count, const MPI_Request requests[]);

/* --- partitioned requests for kernels ---
 * telpher_match takes requests of MPI_Psend_init and MPI_Precv_init as well. They are served by
 * kernels where both ends have the same number of bytes of device memory, on one node or, with
 * MPI_THREAD_MULTIPLE, on two. Then telpher_start_enqueue and telpher_wait_enqueue are kernels of
 * their streams, and both ends need both. Partitions are marked by telpher_pready_enqueue or by the
 * program's kernels, with the functions of device_partitions.h. For those telpher_partitions_device
 * gives a handle, a record in the memory of the buffer's device, which lasts until
 * MPI_Request_free. It fails with MPI_ERR_UNSUPPORTED_OPERATION, and a null handle, for a
 * partitioned request that goes by messages or was not matched; with MPI_ERR_REQUEST for any other
 * request. */
struct telpher_device_partitions;
int telpher_partitions_device(MPI_Request request, const struct telpher_device_partitions** handle);

/* --- collectives --- */
int telpher_barrier_enqueue(MPI_Comm comm, void* stream);
int telpher_bcast_enqueue(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, void* stream);
int telpher_gather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                           MPI_Datatype recvtype, int root, MPI_Comm comm, void* stream);
int telpher_gatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                            const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                            MPI_Comm comm, void* stream);
int telpher_scatter_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                            MPI_Datatype recvtype, int root, MPI_Comm comm, void* stream);
int telpher_scatterv_enqueue(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                             void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                             void* stream);
int telpher_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                              int recvcount, MPI_Datatype recvtype, MPI_Comm comm, void* stream);
int telpher_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                               void* stream);
int telpher_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                             MPI_Datatype recvtype, MPI_Comm comm, void* stream);
int telpher_alltoallv_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                              void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                              MPI_Comm comm, void* stream);
int telpher_alltoallw_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                              const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                              const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, void* stream);
int telpher_reduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                           MPI_Comm comm, void* stream);
int telpher_allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                              MPI_Comm comm, void* stream);
int telpher_reduce_scatter_block_enqueue(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                                         MPI_Op op, MPI_Comm comm, void* stream);
int telpher_reduce_scatter_enqueue(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                                   MPI_Op op, MPI_Comm comm, void* stream);
int telpher_scan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm, void* stream);
int telpher_exscan_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm, void* stream);
int telpher_neighbor_allgather_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                       int recvcount, MPI_Datatype recvtype, MPI_Comm comm, void* stream);
int telpher_neighbor_allgatherv_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                        const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                                        MPI_Comm comm, void* stream);
int telpher_neighbor_alltoall_enqueue(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                      int recvcount, MPI_Datatype recvtype, MPI_Comm comm, void* stream);
int telpher_neighbor_alltoallv_enqueue(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                       MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, void* stream);
int telpher_neighbor_alltoallw_enqueue(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                                       const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                                       const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                       void* stream);

/* --- MPICH's names, where mpi.h does not have them --- */
#ifndef MPIX_STREAM_NULL
typedef int MPIX_Stream;
#define MPIX_STREAM_NULL ((MPIX_Stream)0x3c000000)
int MPIX_Info_set_hex(MPI_Info info, const char* key, const void* value, int value_size);
int MPIX_Stream_create(MPI_Info info, MPIX_Stream* stream);
int MPIX_Stream_free(MPIX_Stream* stream);
int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm);
int MPIX_Comm_get_stream(MPI_Comm comm, int idx, MPIX_Stream* stream);
int MPIX_Send_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPIX_Recv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                      MPI_Status* status);
int MPIX_Isend_enqueue(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                       MPI_Request* request);
int MPIX_Irecv_enqueue(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                       MPI_Request* request);
int MPIX_Wait_enqueue(MPI_Request* request, MPI_Status* status);
int MPIX_Waitall_enqueue(int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses);
int MPIX_Allreduce_enqueue(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                           MPI_Comm comm);
int MPIX_Send_enqueue_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPIX_Recv_enqueue_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                        MPI_Status* status);
int MPIX_Isend_enqueue_c(const void* buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                         MPI_Request* request);
int MPIX_Irecv_enqueue_c(void* buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                         MPI_Request* request);
#if MPI_VERSION >= 4
int MPIX_Allreduce_enqueue_c(const void* sendbuf, void* recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                             MPI_Comm comm);
#endif
#endif

#ifdef __cplusplus
}
#endif

#endif
