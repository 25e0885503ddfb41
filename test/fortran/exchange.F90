! SPDX-License-Identifier: BSD-3-Clause
! Device memory through MPI's Fortran bindings: messages in both directions, a message with gaps, requests,
! statuses, collectives in place and not, what is ignored and what is nobody's. Compiled once with `use mpi`
! and once with `use mpi_f08` (-DF08). Two ranks or more.
program exchange
  use iso_c_binding
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  implicit none
#ifdef F08
#define A_REQUEST type(MPI_Request)
#define A_DATATYPE type(MPI_Datatype)
#define SOURCE_OF(s) s%MPI_SOURCE
#define A_STATUS type(MPI_Status)
#define STATUSES(n) type(MPI_Status), dimension(n)
#else
#define A_REQUEST integer
#define A_DATATYPE integer
#define SOURCE_OF(s) s(MPI_SOURCE)
#define A_STATUS integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(n) integer, dimension(MPI_STATUS_SIZE, n)
#endif
  abstract interface
    integer(c_int) function malloc_function(address, bytes, memory) bind(C)
      import
      type(c_ptr), intent(out) :: address
      integer(c_size_t), value :: bytes
      integer(c_int), value :: memory
    end function
    integer(c_int) function memcpy_function(to, from, bytes) bind(C)
      import
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: bytes
    end function
    function last_path_function() bind(C) result(text)
      import
      type(c_ptr) :: text
    end function
  end interface
  interface
    type(c_funptr) function dlsym(handle, name) bind(C)
      import
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface
  procedure(malloc_function), pointer :: telpher_malloc
  procedure(memcpy_function), pointer :: telpher_memcpy
  procedure(last_path_function), pointer :: telpher_last_path
  integer(c_int), parameter :: device = 3
  integer, parameter :: n = 50000
  integer :: rank, ranks, peer, ierr, provided, i, which, failed, all_failed, count
  logical :: flag
  real(8), pointer :: out(:), in(:)
  real(8), target :: host(n), other(n)
  A_REQUEST :: requests(2)
  A_DATATYPE :: gaps
  A_STATUS :: status
  STATUSES(2) :: statuses

  ! The program is not linked with Telpher: it is preloaded.
  call c_f_procpointer(named("telpher_malloc"), telpher_malloc)
  call c_f_procpointer(named("telpher_memcpy"), telpher_memcpy)
  call c_f_procpointer(named("telpher_last_path"), telpher_last_path)
  call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  failed = 0
  peer = ieor(rank, 1)
  if (peer >= ranks) peer = MPI_PROC_NULL
  out => on_device()
  in => on_device()

  ! Both ways at once, completed together.
  call fill(out, rank)
  call fill(in, -1)
  call MPI_Irecv(in, n, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, peer, 7, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Waitall(2, requests, statuses, ierr)
  if (peer /= MPI_PROC_NULL) then
    call expect(holds(in, peer), "Isend, Irecv, Waitall")
#ifdef F08
    call expect(statuses(1)%MPI_SOURCE == peer, "a status of Waitall")
#else
    call expect(statuses(MPI_SOURCE, 1) == peer, "a status of Waitall")
#endif
    call expect(path_is_not("none"), "the path")
  end if

  ! Blocking, from any source, with a status; one at a time.
  call fill(in, -1)
  if (rank == 0) then
    call MPI_Send(out, n, MPI_DOUBLE_PRECISION, 1, 8, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(holds(in, 1), "Recv, status ignored")
  else if (rank == 1) then
    call MPI_Recv(in, n, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, status, ierr)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierr)
    call expect(holds(in, 0) .and. count == n .and. SOURCE_OF(status) == 0, "Recv with a status")
    call MPI_Ssend(out, n, MPI_DOUBLE_PRECISION, 0, 9, MPI_COMM_WORLD, ierr)
  end if

  ! Sendrecv; then a small message that is waited for by Waitany, whose index counts from 1.
  call fill(in, -1)
  call MPI_Sendrecv(out, n, MPI_DOUBLE_PRECISION, peer, 1, in, n, MPI_DOUBLE_PRECISION, peer, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  if (peer /= MPI_PROC_NULL) call expect(holds(in, peer), "Sendrecv")
  requests(1) = MPI_REQUEST_NULL
  call MPI_Irecv(in, 1, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, peer, 2, MPI_COMM_WORLD, ierr)
  call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE, ierr)
#ifndef F08
  call expect(which == 2, "index of Waitany")  ! C's index in MPICH 4.0's mpi_f08, without Telpher too
#endif
  flag = .false.
  call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE, ierr)
  call expect(flag, "Testall of null requests")

  ! Every second number, persistent.
  call MPI_Type_vector(n / 2, 1, 2, MPI_DOUBLE_PRECISION, gaps, ierr)
  call MPI_Type_commit(gaps, ierr)
  call fill(in, -1)
  call MPI_Recv_init(in, 1, gaps, peer, 3, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, 1, gaps, peer, 3, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 3
    call MPI_Startall(2, requests, ierr)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)
  call MPI_Type_free(gaps, ierr)
  if (peer /= MPI_PROC_NULL) then
    call get(in)
    call expect(all(host(1:n:2) == [(number(peer, i), i = 1, n, 2)]) .and. all(host(2:n:2) == &
                [(number(-1, i), i = 2, n, 2)]), "a message with gaps, persistent")
  end if

  ! Collectives.
  call fill(in, rank)
  call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call get(in)
  call expect(all(host == [(sum([(number(which, i), which = 0, ranks - 1)]), i = 1, n)]), "Allreduce in place")
  call fill(in, rank)
  call MPI_Bcast(in, n, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierr)
  call expect(holds(in, ranks - 1), "Bcast")
  call fill(in, -1)
  call MPI_Ialltoall(out, n / ranks, MPI_DOUBLE_PRECISION, in, n / ranks, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                     requests(1), ierr)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call get(in)
  do which = 0, ranks - 1
    call expect(host(which * (n / ranks) + 1) == number(which, rank * (n / ranks) + 1), "Ialltoall")
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierr)

  call MPI_Allreduce(failed, all_failed, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0 .and. all_failed == 0) print '(a)', "all right"
  call MPI_Finalize(ierr)
  if (all_failed /= 0) stop 1

contains

  type(c_funptr) function named(name)
    character(*), intent(in) :: name
    named = dlsym(c_null_ptr, name // c_null_char)
    if (.not. c_associated(named)) stop 3
  end function

  function on_device() result(array)
    real(8), pointer :: array(:)
    type(c_ptr) :: address
    if (telpher_malloc(address, int(8 * n, c_size_t), device) /= 0) stop 2
    call c_f_pointer(address, array, [n])
  end function

  real(8) function number(who, at)
    integer, intent(in) :: who, at
    number = 1000.0d0 * who + at
  end function

  subroutine fill(array, who)
    real(8), pointer, intent(in) :: array(:)
    integer, intent(in) :: who
    integer :: k
    other = [(number(who, k), k = 1, n)]
    if (telpher_memcpy(c_loc(array), c_loc(other), int(8 * n, c_size_t)) /= 0) stop 2
  end subroutine

  subroutine get(array)
    real(8), pointer, intent(in) :: array(:)
    if (telpher_memcpy(c_loc(host), c_loc(array), int(8 * n, c_size_t)) /= 0) stop 2
  end subroutine

  logical function holds(array, who)
    real(8), pointer, intent(in) :: array(:)
    integer, intent(in) :: who
    integer :: k
    call get(array)
    holds = all(host == [(number(who, k), k = 1, n)])
  end function

  logical function path_is_not(name)
    character(*), intent(in) :: name
    character(kind=c_char), pointer :: text(:)
    call c_f_pointer(telpher_last_path(), text, [len(name)])
    path_is_not = any([(text(i) /= name(i:i), i = 1, len(name))])
  end function

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    failed = failed + 1
    print '(a,i0,2a)', "FAILED on rank ", rank, ": ", what
  end subroutine
end program
