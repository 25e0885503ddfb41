! SPDX-License-Identifier: BSD-3-Clause
! Two ranks, Fortran: an array in device memory goes from rank 0 to rank 1, and a sum over both ranks stays on the
! devices. The memory is had from C's functions through ISO_C_BINDING, so any Fortran compiler will do:
!
!   mpifort -cpp device_memory.F90 -ltelpher-mpich -o app          device memory of telpher.h, on every back end
!   mpifort -cpp -DUSE_CUDA device_memory.F90 -lcudart -o app      CUDA's; nothing in it knows of Telpher
!   telpher run -n 2 ./app
!
! With OpenACC or CUDA Fortran the compiler makes device arrays itself, and the MPI calls stay as they are:
!   !$acc host_data use_device(data)                               real, device :: data(n)
!   call MPI_Send(data, n, ...)                                    call MPI_Send(data, n, ...)
!   !$acc end host_data
program device_memory
  use iso_c_binding
  use mpi
  implicit none
  interface
#ifdef USE_CUDA
    integer(c_int) function allocate_device(address, bytes) bind(C, name="cudaMalloc")
      import
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function copy_bytes(to, from, bytes, kind) bind(C, name="cudaMemcpy")
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
      integer(c_int), value :: kind
    end function
#else
    integer(c_int) function allocate_device(address, bytes, memory) bind(C, name="telpher_malloc")
      import
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
      integer(c_int), value :: memory
    end function
    integer(c_int) function copy_bytes(to, from, bytes) bind(C, name="telpher_memcpy")
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
    end function
#endif
  end interface
  integer, parameter :: n = 2**18
  integer :: rank, ranks, ierr, i
  real, pointer :: data(:), total(:)  ! in device memory: for MPI only, the CPU must not touch them
  real, target :: host(n), expected(n)
  logical :: right, all_right

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  if (ranks /= 2) stop "run this with two ranks"
  expected = [(real(i), i = 1, n)]
  data => on_device()
  total => on_device()
  host = merge(expected, -expected, rank == 0)
  call copy(c_loc(data), c_loc(host))
  if (rank == 0) then
    call MPI_Send(data, n, MPI_REAL, 1, 123, MPI_COMM_WORLD, ierr)
  else
    call MPI_Recv(data, n, MPI_REAL, 0, 123, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end if
  call MPI_Allreduce(data, total, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierr)
  call copy(c_loc(host), c_loc(data))
  right = all(host == expected)
  call copy(c_loc(host), c_loc(total))
  right = right .and. all(host == 2 * expected)
  call MPI_Allreduce(right, all_right, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(i0,2a)', n, " real sent, received and summed in device memory: ", &
    merge("right", "WRONG", all_right)
  call MPI_Finalize(ierr)
  if (.not. all_right) stop 1

contains

  function on_device() result(array)
    real, pointer :: array(:)
    type(c_ptr) :: address
#ifdef USE_CUDA
    if (allocate_device(address, int(4 * n, c_size_t)) /= 0) stop 2
#else
    if (allocate_device(address, int(4 * n, c_size_t), 3) /= 0) stop 2  ! TELPHER_MEMORY_DEVICE
#endif
    call c_f_pointer(address, array, [n])
  end function

  subroutine copy(to, from)
    type(c_ptr), intent(in) :: to, from
#ifdef USE_CUDA
    if (copy_bytes(to, from, int(4 * n, c_size_t), 4) /= 0) stop 2  ! cudaMemcpyDefault
#else
    if (copy_bytes(to, from, int(4 * n, c_size_t)) /= 0) stop 2
#endif
  end subroutine
end program
