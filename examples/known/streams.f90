! SPDX-License-Identifier: BSD-3-Clause
! A ring in the order of a stream, in Fortran: each rank passes an array on and sums what all have got, in one stream.
! The CPU waits once, at the end. Module telpher_f08 has the calls of telpher/stream.h; its source is installed with
! Telpher, for your compiler:
!
!   mpifort $INCLUDE/telpher/telpher_f08.f90 streams.f90 -ltelpher-ompi -o app
!   telpher run -n 2 ./app
!
! The stream and the device memory are telpher.h's here, on every back end. OpenACC's stream is
!   transfer(acc_get_cuda_stream(queue), stream), and its arrays go into the calls as they do into MPI's:
!   !$acc host_data use_device(data)
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
    integer(c_int) function telpher_memcpy(to, from, bytes) bind(C)
      import
      type(c_ptr), value :: to, from
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
  end interface
  integer, parameter :: n = 2**18
  integer :: rank, ranks, provided, left, right
  logical :: good
  real, pointer :: out(:), in(:)  ! in device memory: for MPI only, the CPU must not touch them
  real, target :: host(n)
  type(c_ptr) :: stream
  type(MPI_Request) :: requests(2)

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  left = modulo(rank - 1, ranks)
  right = modulo(rank + 1, ranks)
  good = telpher_stream_create(stream) == 0
  out => on_device()
  in => on_device()
  host = rank + 1
  good = good .and. telpher_memcpy(c_loc(out), c_loc(host), 4_c_size_t * n) == 0

  call telpher_irecv_enqueue(in, n, MPI_REAL, left, 0, MPI_COMM_WORLD, requests(1), stream)
  call telpher_isend_enqueue(out, n, MPI_REAL, right, 0, MPI_COMM_WORLD, requests(2), stream)
  call telpher_waitall_enqueue(2, requests, MPI_STATUSES_IGNORE, stream)  ! the stream waits, the CPU does not
  call telpher_allreduce_enqueue(MPI_IN_PLACE, in, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, stream)

  good = good .and. telpher_stream_synchronize(stream) == 0
  good = good .and. telpher_stream_status(stream) == MPI_SUCCESS
  good = good .and. telpher_memcpy(c_loc(host), c_loc(in), 4_c_size_t * n) == 0
  good = good .and. all(host == ranks * (ranks + 1) / 2)
  if (rank == 0) print '(2a)', "the sums are ", merge("right", "WRONG", good)
  call MPI_Finalize()
  if (.not. good) stop 1

contains

  function on_device() result(array)
    real, pointer :: array(:)
    type(c_ptr) :: address
    integer(c_int), parameter :: device = 3  ! TELPHER_MEMORY_DEVICE
    if (telpher_malloc(address, 4_c_size_t * n, device) /= 0) stop "no device memory"
    call c_f_pointer(address, array, [n])
  end function
end program
