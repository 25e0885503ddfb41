! SPDX-License-Identifier: BSD-3-Clause
! generated from stream.h by src/mpi/generate.py; do not edit
!
! The calls of telpher/stream.h for programs with mpi_f08: compile this with the program, and link
! libtelpher-<abi>.so. A stream is a type(c_ptr). Buffers are passed by address and must be contiguous.
! docs/use/streams.md, "From Fortran", has an example.
module telpher_f08
  use, intrinsic :: iso_c_binding, only: c_bool, c_int, c_intptr_t, c_ptr
  use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status
  implicit none
  private :: c_bool, c_int, c_intptr_t, c_ptr, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status

  interface
    subroutine telpher_stream_set(comm, stream, ierror) bind(C, name="telpher_f08_stream_set")
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_stream_unset(comm, ierror) bind(C, name="telpher_f08_stream_unset")
      import
      type(MPI_Comm), intent(in) :: comm
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_stream_get(comm, stream, flag, ierror) bind(C, name="telpher_f08_stream_get")
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), intent(inout) :: stream
      logical(c_bool), intent(out) :: flag
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    integer(c_int) function telpher_stream_status(stream) bind(C)
      import
      type(c_ptr), value :: stream
    end function

    subroutine telpher_send_enqueue(buf, count, datatype, dest, tag, comm, stream, ierror) bind(C, &
        name="telpher_f08_send_enqueue")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), intent(in), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: dest, tag
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_recv_enqueue(buf, count, datatype, source, tag, comm, status, stream, ierror) bind(C, &
        name="telpher_f08_recv_enqueue")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: source, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status), asynchronous :: status
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_sendrecv_enqueue(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, &
        source, recvtag, comm, status, stream, ierror) bind(C, name="telpher_f08_sendrecv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      integer(c_int), intent(in) :: dest, sendtag
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer(c_int), intent(in) :: source, recvtag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Status), asynchronous :: status
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_isend_enqueue(buf, count, datatype, dest, tag, comm, request, stream, ierror) bind(C, &
        name="telpher_f08_isend_enqueue")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), intent(in), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: dest, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_irecv_enqueue(buf, count, datatype, source, tag, comm, request, stream, ierror) bind(C, &
        name="telpher_f08_irecv_enqueue")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: source, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_wait_enqueue(request, status, stream, ierror) bind(C, name="telpher_f08_wait_enqueue")
      import
      type(MPI_Request), intent(inout) :: request
      type(MPI_Status), asynchronous :: status
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_waitall_enqueue(count, requests, statuses, stream, ierror) bind(C, &
        name="telpher_f08_waitall_enqueue")
      import
      integer(c_int), intent(in) :: count
      type(MPI_Request), dimension(*), intent(inout) :: requests
      type(MPI_Status), dimension(*), asynchronous :: statuses
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_start_enqueue(request, stream, ierror) bind(C, name="telpher_f08_start_enqueue")
      import
      type(MPI_Request), intent(in) :: request
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_startall_enqueue(count, requests, stream, ierror) bind(C, &
        name="telpher_f08_startall_enqueue")
      import
      integer(c_int), intent(in) :: count
      type(MPI_Request), dimension(*), intent(in) :: requests
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_pready_enqueue(partition, request, stream, ierror) bind(C, name="telpher_f08_pready_enqueue")
      import
      integer(c_int), intent(in) :: partition
      type(MPI_Request), intent(in) :: request
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_matched_send_init(buf, count, datatype, dest, tag, comm, request, ierror) bind(C, &
        name="telpher_f08_matched_send_init")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), intent(in), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: dest, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_matched_recv_init(buf, count, datatype, source, tag, comm, request, ierror) bind(C, &
        name="telpher_f08_matched_recv_init")
      import
      !DIR$ IGNORE_TKR buf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
      type(*), dimension(*), asynchronous :: buf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: source, tag
      type(MPI_Comm), intent(in) :: comm
      type(MPI_Request), intent(out) :: request
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_match(count, requests, ierror) bind(C, name="telpher_f08_match")
      import
      integer(c_int), intent(in) :: count
      type(MPI_Request), dimension(*), intent(in) :: requests
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_partitions_device(request, handle, ierror) bind(C, name="telpher_f08_partitions_device")
      import
      type(MPI_Request), intent(in) :: request
      type(c_ptr), intent(out) :: handle
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_barrier_enqueue(comm, stream, ierror) bind(C, name="telpher_f08_barrier_enqueue")
      import
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_bcast_enqueue(buffer, count, datatype, root, comm, stream, ierror) bind(C, &
        name="telpher_f08_bcast_enqueue")
      import
      !DIR$ IGNORE_TKR buffer
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: buffer
      type(*), dimension(*), asynchronous :: buffer
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_gather_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        stream, ierror) bind(C, name="telpher_f08_gather_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_gatherv_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, &
        comm, stream, ierror) bind(C, name="telpher_f08_gatherv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, displs
      type(MPI_Datatype), intent(in) :: recvtype
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_scatter_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &
        stream, ierror) bind(C, name="telpher_f08_scatter_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_scatterv_enqueue(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, &
        comm, stream, ierror) bind(C, name="telpher_f08_scatterv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, displs
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_allgather_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, stream, &
        ierror) bind(C, name="telpher_f08_allgather_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_allgatherv_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, &
        stream, ierror) bind(C, name="telpher_f08_allgatherv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, displs
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_alltoall_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, stream, &
        ierror) bind(C, name="telpher_f08_alltoall_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_alltoallv_enqueue(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, &
        recvtype, comm, stream, ierror) bind(C, name="telpher_f08_alltoallv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, rdispls
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_alltoallw_enqueue(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, &
        recvtypes, comm, stream, ierror) bind(C, name="telpher_f08_alltoallw_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls
      type(MPI_Datatype), dimension(*), intent(in) :: sendtypes
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, rdispls
      type(MPI_Datatype), dimension(*), intent(in) :: recvtypes
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_reduce_enqueue(sendbuf, recvbuf, count, datatype, op, root, comm, stream, ierror) bind(C, &
        name="telpher_f08_reduce_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      integer(c_int), intent(in) :: root
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_allreduce_enqueue(sendbuf, recvbuf, count, datatype, op, comm, stream, ierror) bind(C, &
        name="telpher_f08_allreduce_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_reduce_scatter_block_enqueue(sendbuf, recvbuf, recvcount, datatype, op, comm, stream, ierror) &
        bind(C, name="telpher_f08_reduce_scatter_block_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_reduce_scatter_enqueue(sendbuf, recvbuf, recvcounts, datatype, op, comm, stream, ierror) &
        bind(C, name="telpher_f08_reduce_scatter_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_scan_enqueue(sendbuf, recvbuf, count, datatype, op, comm, stream, ierror) bind(C, &
        name="telpher_f08_scan_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_exscan_enqueue(sendbuf, recvbuf, count, datatype, op, comm, stream, ierror) bind(C, &
        name="telpher_f08_exscan_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: count
      type(MPI_Datatype), intent(in) :: datatype
      type(MPI_Op), intent(in) :: op
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_neighbor_allgather_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        stream, ierror) bind(C, name="telpher_f08_neighbor_allgather_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_neighbor_allgatherv_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, &
        recvtype, comm, stream, ierror) bind(C, name="telpher_f08_neighbor_allgatherv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, displs
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_neighbor_alltoall_enqueue(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, &
        stream, ierror) bind(C, name="telpher_f08_neighbor_alltoall_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), intent(in) :: sendcount
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), intent(in) :: recvcount
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_neighbor_alltoallv_enqueue(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, &
        rdispls, recvtype, comm, stream, ierror) bind(C, name="telpher_f08_neighbor_alltoallv_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts, sdispls
      type(MPI_Datatype), intent(in) :: sendtype
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts, rdispls
      type(MPI_Datatype), intent(in) :: recvtype
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine

    subroutine telpher_neighbor_alltoallw_enqueue(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, &
        rdispls, recvtypes, comm, stream, ierror) bind(C, name="telpher_f08_neighbor_alltoallw_enqueue")
      import
      !DIR$ IGNORE_TKR sendbuf, recvbuf
      !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf, recvbuf
      type(*), dimension(*), intent(in), asynchronous :: sendbuf
      integer(c_int), dimension(*), intent(in) :: sendcounts
      integer(c_intptr_t), dimension(*), intent(in) :: sdispls
      type(MPI_Datatype), dimension(*), intent(in) :: sendtypes
      type(*), dimension(*), asynchronous :: recvbuf
      integer(c_int), dimension(*), intent(in) :: recvcounts
      integer(c_intptr_t), dimension(*), intent(in) :: rdispls
      type(MPI_Datatype), dimension(*), intent(in) :: recvtypes
      type(MPI_Comm), intent(in) :: comm
      type(c_ptr), value :: stream
      integer(c_int), optional, intent(out) :: ierror
    end subroutine
  end interface
end module telpher_f08
