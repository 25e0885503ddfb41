// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// One-sided communication (chapter 12):
// PMPI's names, for the host MPI's Fortran bindings (mpi/fortran.hpp).
#include "host_mpi/host_mpi.hpp"
#include "mpi/fortran.hpp"

using namespace telpher;

#if !defined(MPI_ABI)  // the MPI beneath it may have other PMPI functions

extern "C" {

int PMPI_Win_create(void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_create(base, size, disp_unit, info, comm, win)
      : pmpi::Win_create(base, size, disp_unit, info, comm, win);
}

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                      MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_allocate(size, disp_unit, info, comm, baseptr, win)
      : pmpi::Win_allocate(size, disp_unit, info, comm, baseptr, win);
}

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void* baseptr, MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_allocate_shared(size, disp_unit, info, comm, baseptr, win)
      : pmpi::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
}

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_create_dynamic(info, comm, win)
      : pmpi::Win_create_dynamic(info, comm, win);
}

int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_attach(win, base, size) : pmpi::Win_attach(win, base, size);
}

int PMPI_Win_free(MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_free(win) : pmpi::Win_free(win);
}

int PMPI_Win_set_info(MPI_Win win, MPI_Info info) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_set_info(win, info) : pmpi::Win_set_info(win, info);
}

int PMPI_Put(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                target_datatype, win)
                    : pmpi::Put(origin_addr, origin_count, origin_datatype, target_rank,
                                target_disp, target_count, target_datatype, win);
}

int PMPI_Get(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                target_datatype, win)
                    : pmpi::Get(origin_addr, origin_count, origin_datatype, target_rank,
                                target_disp, target_count, target_datatype, win);
}

int PMPI_Accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                    int target_rank, MPI_Aint target_disp, int target_count,
                    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                       target_count, target_datatype, op, win)
                           : pmpi::Accumulate(origin_addr, origin_count, origin_datatype,
                                              target_rank, target_disp, target_count,
                                              target_datatype, op, win);
}

int PMPI_Get_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                        void* result_addr, int result_count, MPI_Datatype result_datatype,
                        int target_rank, MPI_Aint target_disp, int target_count,
                        MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                           result_datatype, target_rank, target_disp, target_count, target_datatype,
                           op, win)
                               : pmpi::Get_accumulate(origin_addr, origin_count, origin_datatype,
                                                      result_addr, result_count, result_datatype,
                                                      target_rank, target_disp, target_count,
                                                      target_datatype, op, win);
}

int PMPI_Rput(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
              int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
              MPI_Win win, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win, request)
                     : pmpi::Rput(origin_addr, origin_count, origin_datatype, target_rank,
                                  target_disp, target_count, target_datatype, win, request);
}

int PMPI_Rget(void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
              MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
              MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                 target_datatype, win, request)
                     : pmpi::Rget(origin_addr, origin_count, origin_datatype, target_rank,
                                  target_disp, target_count, target_datatype, win, request);
}

int PMPI_Raccumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                     int target_rank, MPI_Aint target_disp, int target_count,
                     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, op, win, request)
                            : pmpi::Raccumulate(origin_addr, origin_count, origin_datatype,
                                                target_rank, target_disp, target_count,
                                                target_datatype, op, win, request);
}

int PMPI_Rget_accumulate(const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
                         void* result_addr, int result_count, MPI_Datatype result_datatype,
                         int target_rank, MPI_Aint target_disp, int target_count,
                         MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                         MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                            result_datatype, target_rank, target_disp, target_count,
                            target_datatype, op, win, request)
                                : pmpi::Rget_accumulate(origin_addr, origin_count, origin_datatype,
                                                        result_addr, result_count, result_datatype,
                                                        target_rank, target_disp, target_count,
                                                        target_datatype, op, win, request);
}

int PMPI_Fetch_and_op(const void* origin_addr, void* result_addr, MPI_Datatype datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win)
          : pmpi::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op,
                               win);
}

int PMPI_Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr,
                          MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                             target_disp, win)
                                 : pmpi::Compare_and_swap(origin_addr, compare_addr, result_addr,
                                                          datatype, target_rank, target_disp, win);
}

int PMPI_Win_fence(int assert, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_fence(assert, win) : pmpi::Win_fence(assert, win);
}

int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_start(group, assert, win) : pmpi::Win_start(group, assert, win);
}

int PMPI_Win_complete(MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_complete(win) : pmpi::Win_complete(win);
}

int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_post(group, assert, win) : pmpi::Win_post(group, assert, win);
}

int PMPI_Win_wait(MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_wait(win) : pmpi::Win_wait(win);
}

int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_lock(lock_type, rank, assert, win)
      : pmpi::Win_lock(lock_type, rank, assert, win);
}

int PMPI_Win_lock_all(int assert, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_lock_all(assert, win) : pmpi::Win_lock_all(assert, win);
}

int PMPI_Win_unlock(int rank, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_unlock(rank, win) : pmpi::Win_unlock(rank, win);
}

int PMPI_Win_unlock_all(MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_unlock_all(win) : pmpi::Win_unlock_all(win);
}

int PMPI_Win_flush(int rank, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_flush(rank, win) : pmpi::Win_flush(rank, win);
}

int PMPI_Win_flush_all(MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_flush_all(win) : pmpi::Win_flush_all(win);
}

int PMPI_Win_flush_local(int rank, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_flush_local(rank, win) : pmpi::Win_flush_local(rank, win);
}

int PMPI_Win_flush_local_all(MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_flush_local_all(win) : pmpi::Win_flush_local_all(win);
}

#if TELPHER_HOST_HAS_Win_create_c  // large counts, MPI 4.0

int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_create_c(base, size, disp_unit, info, comm, win)
      : pmpi::Win_create_c(base, size, disp_unit, info, comm, win);
}

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void* baseptr, MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_allocate_c(size, disp_unit, info, comm, baseptr, win)
      : pmpi::Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
}

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void* baseptr, MPI_Win* win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran ? MPI_Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win)
      : pmpi::Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
}

int PMPI_Put_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                  target_count, target_datatype, win)
                      : pmpi::Put_c(origin_addr, origin_count, origin_datatype, target_rank,
                                    target_disp, target_count, target_datatype, win);
}

int PMPI_Get_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
               int target_rank, MPI_Aint target_disp, MPI_Count target_count,
               MPI_Datatype target_datatype, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                  target_count, target_datatype, win)
                      : pmpi::Get_c(origin_addr, origin_count, origin_datatype, target_rank,
                                    target_disp, target_count, target_datatype, win);
}

int PMPI_Accumulate_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                      int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                         target_count, target_datatype, op, win)
                             : pmpi::Accumulate_c(origin_addr, origin_count, origin_datatype,
                                                  target_rank, target_disp, target_count,
                                                  target_datatype, op, win);
}

int PMPI_Get_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                          MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                          MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                          MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                          MPI_Win win) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                             result_datatype, target_rank, target_disp, target_count,
                             target_datatype, op, win)
                                 : pmpi::Get_accumulate_c(origin_addr, origin_count,
                                                          origin_datatype, result_addr,
                                                          result_count, result_datatype,
                                                          target_rank, target_disp, target_count,
                                                          target_datatype, op, win);
}

int PMPI_Rput_c(const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win, request)
                       : pmpi::Rput_c(origin_addr, origin_count, origin_datatype, target_rank,
                                      target_disp, target_count, target_datatype, win, request);
}

int PMPI_Rget_c(void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
                int target_rank, MPI_Aint target_disp, MPI_Count target_count,
                MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win, request)
                       : pmpi::Rget_c(origin_addr, origin_count, origin_datatype, target_rank,
                                      target_disp, target_count, target_datatype, win, request);
}

int PMPI_Raccumulate_c(const void* origin_addr, MPI_Count origin_count,
                       MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                       MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
                       MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                          target_count, target_datatype, op, win, request)
                              : pmpi::Raccumulate_c(origin_addr, origin_count, origin_datatype,
                                                    target_rank, target_disp, target_count,
                                                    target_datatype, op, win, request);
}

int PMPI_Rget_accumulate_c(const void* origin_addr, MPI_Count origin_count,
                           MPI_Datatype origin_datatype, void* result_addr, MPI_Count result_count,
                           MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                           MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
                           MPI_Win win, MPI_Request* request) {
  const bool fortran = mpi::from_fortran(__builtin_return_address(0));
  return fortran
      ? MPI_Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                              result_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win, request)
                                  : pmpi::Rget_accumulate_c(origin_addr, origin_count,
                                                            origin_datatype, result_addr,
                                                            result_count, result_datatype,
                                                            target_rank, target_disp, target_count,
                                                            target_datatype, op, win, request);
}

#endif  // TELPHER_HOST_HAS_Win_create_c

}  // extern "C"

#endif  // !defined(MPI_ABI)
