! SPDX-License-Identifier: BSD-3-Clause
! The calls of telpher/stream.h from Fortran, by module telpher_f08: each kind of argument in each direction, and what
! arrives. What the stream does to buffers before and behind an operation goes by the stream, too. Two ranks or more.
program streams
  use iso_c_binding
  use mpi_f08
  use telpher_f08
  implicit none
  interface
    integer(c_int) function telpher_malloc(address, bytes, memory) bind(C)
      import
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
      integer(c_int), value :: memory
    end function
    integer(c_int) function telpher_memcpy_async(to, from, bytes, stream) bind(C)
      import
      type(c_ptr), value :: to, from, stream
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function telpher_stream_create(stream) bind(C)
      import
      type(c_ptr), intent(out) :: stream
    end function
    integer(c_int) function telpher_stream_synchronize(stream) bind(C)
      import
      type(c_ptr), value :: stream
    end function
    integer(c_int) function telpher_stream_destroy(stream) bind(C)
      import
      type(c_ptr), value :: stream
    end function
  end interface
  integer(c_int), parameter :: device = 3
  integer, parameter :: n = 5000
  integer(c_size_t), parameter :: bytes = 8 * n
  integer :: rank, ranks, provided, left, right, i, ierr, failed, all_failed, root
  type(c_ptr) :: stream
  real(8), pointer :: out(:), in(:)  ! in device memory
  real(8), target :: host(n), source(n)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  failed = 0
  if (telpher_stream_create(stream) /= 0) stop 2
  out => on_device()
  in => on_device()

  call messages()
  call persistent()
  call matched()
  call reductions()
  call arrays_of_types()
  call names()
  call errors()
  call expect(telpher_stream_status(stream) == MPI_SUCCESS, "the stream's status")

  if (telpher_stream_destroy(stream) /= 0) stop 2
  call MPI_Allreduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. all_failed == 0) print '(a)', "all right"
  call MPI_Finalize()
  if (all_failed /= 0) stop 1

contains

  ! Every order of send and receive, with statuses and without; ierror given and left out.
  subroutine messages()
    type(MPI_Request) :: requests(2)
    type(MPI_Status), asynchronous :: status, statuses(2)
    integer :: count

    call start_with(rank)
    if (rank == 0) then
      call telpher_send_enqueue(out, n, MPI_DOUBLE_PRECISION, 1, 1, MPI_COMM_WORLD, stream)
      call telpher_recv_enqueue(in, n, MPI_DOUBLE_PRECISION, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, stream, ierr)
      call expect(ierr == MPI_SUCCESS, "the code of a receive")
      call expect_all(1, "recv, status ignored")
    else if (rank == 1) then
      call telpher_recv_enqueue(in, n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, status, stream)
      call telpher_send_enqueue(out, n, MPI_DOUBLE_PRECISION, 0, 2, MPI_COMM_WORLD, stream, ierr)
      call expect(ierr == MPI_SUCCESS, "the code of a send")
      call expect_all(0, "recv")
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count)
      call expect(count == n .and. status%MPI_SOURCE == 0 .and. status%MPI_TAG == 1, "the status of recv")
    end if

    call start_with(rank)
    call telpher_sendrecv_enqueue(out, n, MPI_DOUBLE_PRECISION, right, 3, in, n, MPI_DOUBLE_PRECISION, left, 3, &
                                  MPI_COMM_WORLD, status, stream)
    call expect_all(left, "sendrecv")
    call expect(status%MPI_SOURCE == left .and. status%MPI_TAG == 3, "the status of sendrecv")

    call start_with(rank)
    call telpher_irecv_enqueue(in, n, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(1), stream)
    call telpher_isend_enqueue(out, n, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(2), stream)
    call expect(all(requests%MPI_VAL /= MPI_REQUEST_NULL%MPI_VAL), "requests")
    call telpher_waitall_enqueue(2, requests, statuses, stream)
    call expect(all(requests%MPI_VAL == MPI_REQUEST_NULL%MPI_VAL), "requests, waited for")
    call expect_all(left, "irecv, isend, waitall")
    call expect(statuses(1)%MPI_SOURCE == left .and. statuses(1)%MPI_TAG == 4, "a status of waitall")

    call start_with(rank)
    call telpher_irecv_enqueue(in, n, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, requests(1), stream)
    call telpher_isend_enqueue(out, n, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, requests(2), stream)
    call telpher_wait_enqueue(requests(1), status, stream)
    call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
    call expect_all(left, "irecv, wait")
    call expect(status%MPI_SOURCE == left .and. status%MPI_TAG == 5, "the status of wait")
  end subroutine

  subroutine persistent()
    type(MPI_Request) :: requests(2)
    call MPI_Recv_init(in, n, MPI_DOUBLE_PRECISION, left, 6, MPI_COMM_WORLD, requests(1))
    call MPI_Send_init(out, n, MPI_DOUBLE_PRECISION, right, 6, MPI_COMM_WORLD, requests(2))
    do i = 1, 3
      call start_with(rank + i)
      call telpher_startall_enqueue(2, requests, stream)
      call telpher_waitall_enqueue(2, requests, MPI_STATUSES_IGNORE, stream)
      call expect_all(left + i, "startall")
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  subroutine matched()
    type(MPI_Request) :: requests(2)
    call telpher_matched_recv_init(in, n, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, requests(1))
    call telpher_matched_send_init(out, n, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, requests(2))
    call telpher_match(2, requests, ierr)
    call expect(ierr == MPI_SUCCESS, "match")
    do i = 1, 3
      call start_with(rank + i)
      call telpher_start_enqueue(requests(1), stream)
      call telpher_start_enqueue(requests(2), stream)
      call telpher_wait_enqueue(requests(1), MPI_STATUS_IGNORE, stream)
      call telpher_wait_enqueue(requests(2), MPI_STATUS_IGNORE, stream)
      call expect_all(left + i, "a matched pair")
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
  end subroutine

  ! More often than it takes until the call is a kernel.
  subroutine reductions()
    do i = 1, 20
      call start_with(rank)
      call telpher_allreduce_enqueue(MPI_IN_PLACE, out, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, stream)
      call telpher_allreduce_enqueue(out, in, n, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, stream)
      call expect_sum("allreduce, in place and not")
    end do
    do root = 0, ranks - 1
      call start_with(rank)
      call telpher_bcast_enqueue(out, n, MPI_DOUBLE_PRECISION, root, MPI_COMM_WORLD, stream)
      call telpher_barrier_enqueue(MPI_COMM_WORLD, stream)
      call telpher_reduce_enqueue(out, in, n, MPI_DOUBLE_PRECISION, MPI_MIN, root, MPI_COMM_WORLD, stream)
      if (rank == root) call expect_all(root, "bcast, reduce")
    end do
  end subroutine

  ! Arrays of handles, counts and displacements: each rank's block goes where its rank says.
  subroutine arrays_of_types()
    integer :: counts(ranks), places(ranks), block, left_first(2)
    type(MPI_Datatype) :: types(ranks), two(2)
    type(MPI_Comm) :: ring
    block = n / ranks
    counts = block
    types = MPI_DOUBLE_PRECISION
    places = [(8 * block * i, i = 0, ranks - 1)]
    call start_with(rank)
    call telpher_alltoallw_enqueue(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, stream)
    call get(in)
    do i = 0, ranks - 1
      call expect(host(block * i + 1) == number(i, block * rank + 1), "alltoallw")
    end do
    call telpher_alltoallw_enqueue(MPI_IN_PLACE, counts, places, [MPI_DATATYPE_NULL], in, counts, places, types, &
                                   MPI_COMM_WORLD, stream)
    call expect_blocks(block)

    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring)
    left_first = n / 2
    two = MPI_DOUBLE_PRECISION
    call start_with(rank)
    call telpher_neighbor_alltoallw_enqueue(out, left_first, [0_MPI_ADDRESS_KIND, bytes / 2], two, in, left_first, &
                                            [0_MPI_ADDRESS_KIND, bytes / 2], two, ring, stream)
    call get(in)
    if (ranks > 2) call expect(host(1) == number(left, n / 2 + 1) .and. host(n) == number(right, n / 2), &
                               "neighbor_alltoallw")
    call MPI_Comm_free(ring)
  end subroutine

  ! The stream of a communicator: an ordinary call waits for it.
  subroutine names()
    type(MPI_Comm) :: comm
    type(c_ptr) :: found
    logical(c_bool) :: flag
    call MPI_Comm_dup(MPI_COMM_WORLD, comm)
    found = c_null_ptr
    call telpher_stream_get(comm, found, flag)
    call expect(.not. flag .and. .not. c_associated(found), "no stream")
    call telpher_stream_set(comm, stream)
    call telpher_stream_get(comm, found, flag)
    call expect(flag .and. c_associated(found, stream), "the named stream")
    call start_with(rank)
    call MPI_Allreduce(out, in, n, MPI_DOUBLE_PRECISION, MPI_SUM, comm)
    call expect_sum("an ordinary call on a communicator with a stream")
    call telpher_stream_unset(comm)
    call telpher_stream_get(comm, found, flag)
    call expect(logical(.not. flag), "the stream unset")
    call MPI_Comm_free(comm)
  end subroutine

  ! What the call finds is in ierror, and goes to the error handler where there is none.
  subroutine errors()
    integer :: class
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call telpher_match(1, [MPI_REQUEST_NULL], ierr)
    call MPI_Error_class(ierr, class)
    call expect(class == MPI_ERR_REQUEST, "the error of a null request")
    call telpher_match(1, [MPI_REQUEST_NULL])
  end subroutine

  function on_device() result(array)
    real(8), pointer :: array(:)
    type(c_ptr) :: address
    if (telpher_malloc(address, bytes, device) /= 0) stop 2
    call c_f_pointer(address, array, [n])
  end function

  real(8) function number(who, at)
    integer, intent(in) :: who, at
    number = 1000.0d0 * who + at
  end function

  ! In the stream: `out` has this rank's numbers and `in` has others.
  subroutine start_with(who)
    integer, intent(in) :: who
    integer :: k
    if (telpher_stream_synchronize(stream) /= 0) stop 2
    source = [(number(who, k), k = 1, n)]
    host = -1
    if (telpher_memcpy_async(c_loc(in), c_loc(host), bytes, stream) /= 0) stop 2
    if (telpher_memcpy_async(c_loc(out), c_loc(source), bytes, stream) /= 0) stop 2
  end subroutine

  subroutine get(array)
    real(8), pointer, intent(in) :: array(:)
    if (telpher_memcpy_async(c_loc(host), c_loc(array), bytes, stream) /= 0) stop 2
    if (telpher_stream_synchronize(stream) /= 0) stop 2
  end subroutine

  subroutine expect_all(who, what)
    integer, intent(in) :: who
    character(*), intent(in) :: what
    integer :: k
    call get(in)
    call expect(all(host == [(number(who, k), k = 1, n)]), what)
  end subroutine

  subroutine expect_sum(what)
    character(*), intent(in) :: what
    integer :: k
    call get(in)
    call expect(all(host == [(1000.0d0 * (ranks * (ranks - 1) / 2) + ranks * k, k = 1, n)]), what)
  end subroutine

  ! The blocks have gone back to where they came from.
  subroutine expect_blocks(block)
    integer, intent(in) :: block
    integer :: k
    call get(in)
    call expect(all(host(:block * ranks) == [(number(rank, k), k = 1, block * ranks)]), "alltoallw in place")
  end subroutine

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failed = failed + 1
    print '(a,i0,2a)', "FAILED on rank ", rank, ": ", what
  end subroutine
end program
