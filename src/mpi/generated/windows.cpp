// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// One-sided communication (chapter 12),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/names.hpp"

using namespace telpher;

extern "C" {

// 12.2 Initialization
TELPHER_MPI(Win_create,
            (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
            (base, size, disp_unit, info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create(base, size, disp_unit, info, comm, win);
  if (int error = entry::refuse_device_memory(comm, "MPI_Win_create", {base})) return error;
  entry::blocking_call guard;
  return pmpi::Win_create(base, size, disp_unit, info, comm, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate,
            (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate(size, disp_unit, info, comm, baseptr, win);
  entry::blocking_call guard;
  return pmpi::Win_allocate(size, disp_unit, info, comm, baseptr, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_shared,
            (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  entry::blocking_call guard;
  return pmpi::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create_dynamic(info, comm, win);
  entry::blocking_call guard;
  return pmpi::Win_create_dynamic(info, comm, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_attach, (MPI_Win win, void* base, MPI_Aint size), (win, base, size)) {
  if (!entry::active()) return pmpi::Win_attach(win, base, size);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Win_attach",
                                              {base}))
    return error;
  return pmpi::Win_attach(win, base, size);
}

// 12.2 Initialization
TELPHER_MPI(Win_free, (MPI_Win* win), (win)) {
  if (!entry::active()) return pmpi::Win_free(win);
  entry::blocking_call guard;
  return pmpi::Win_free(win);
}

// 12.2 Initialization
TELPHER_MPI(Win_set_info, (MPI_Win win, MPI_Info info), (win, info)) {
  if (!entry::active()) return pmpi::Win_set_info(win, info);
  entry::blocking_call guard;
  return pmpi::Win_set_info(win, info);
}

// 12.3 Communication calls
TELPHER_MPI(Put,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win)) {
  if (!entry::active())
    return pmpi::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Put",
                                              {origin_addr}))
    return error;
  return pmpi::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win);
}

// 12.3 Communication calls
TELPHER_MPI(Get,
            (void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win)) {
  if (!entry::active())
    return pmpi::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Get",
                                              {origin_addr}))
    return error;
  return pmpi::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                   target_count, target_datatype, win);
}

// 12.3 Communication calls
TELPHER_MPI(Accumulate,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Op op, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, op, win)) {
  if (!entry::active())
    return pmpi::Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, op, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Accumulate",
                                              {origin_addr}))
    return error;
  return pmpi::Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                          target_count, target_datatype, op, win);
}

// 12.3 Communication calls
TELPHER_MPI(Get_accumulate,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
             MPI_Win win),
            (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
             target_rank, target_disp, target_count, target_datatype, op, win)) {
  if (!entry::active())
    return pmpi::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                result_count, result_datatype, target_rank, target_disp,
                                target_count, target_datatype, op, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Get_accumulate", {origin_addr, result_addr}))
    return error;
  return pmpi::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr, result_count,
                              result_datatype, target_rank, target_disp, target_count,
                              target_datatype, op, win);
}

// 12.3 Communication calls
TELPHER_MPI(Rput,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win, request)) {
  if (!entry::active())
    return pmpi::Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Rput",
                                              {origin_addr}))
    return error;
  return pmpi::Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Rget,
            (void* origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win,
             MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win, request)) {
  if (!entry::active())
    return pmpi::Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Rget",
                                              {origin_addr}))
    return error;
  return pmpi::Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                    target_count, target_datatype, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Raccumulate,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype,
             MPI_Op op, MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, op, win, request)) {
  if (!entry::active())
    return pmpi::Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, op, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Raccumulate",
                                              {origin_addr}))
    return error;
  return pmpi::Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                           target_count, target_datatype, op, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Rget_accumulate,
            (const void* origin_addr, int origin_count, MPI_Datatype origin_datatype,
             void* result_addr, int result_count, MPI_Datatype result_datatype, int target_rank,
             MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op,
             MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
             target_rank, target_disp, target_count, target_datatype, op, win, request)) {
  if (!entry::active())
    return pmpi::Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                 result_count, result_datatype, target_rank, target_disp,
                                 target_count, target_datatype, op, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Rget_accumulate", {origin_addr, result_addr}))
    return error;
  return pmpi::Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                               result_count, result_datatype, target_rank, target_disp,
                               target_count, target_datatype, op, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Fetch_and_op,
            (const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
             MPI_Aint target_disp, MPI_Op op, MPI_Win win),
            (origin_addr, result_addr, datatype, target_rank, target_disp, op, win)) {
  if (!entry::active())
    return pmpi::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op,
                              win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Fetch_and_op", {origin_addr, result_addr}))
    return error;
  return pmpi::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

// 12.3 Communication calls
TELPHER_MPI(Compare_and_swap,
            (const void* origin_addr, const void* compare_addr, void* result_addr,
             MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win),
            (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win)) {
  if (!entry::active())
    return pmpi::Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                  target_disp, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Compare_and_swap",
                                              {origin_addr, compare_addr, result_addr}))
    return error;
  return pmpi::Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                target_disp, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_fence, (int assert, MPI_Win win), (assert, win)) {
  if (!entry::active()) return pmpi::Win_fence(assert, win);
  entry::blocking_call guard;
  return pmpi::Win_fence(assert, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win)) {
  if (!entry::active()) return pmpi::Win_start(group, assert, win);
  entry::blocking_call guard;
  return pmpi::Win_start(group, assert, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_complete, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_complete(win);
  entry::blocking_call guard;
  return pmpi::Win_complete(win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win)) {
  if (!entry::active()) return pmpi::Win_post(group, assert, win);
  entry::blocking_call guard;
  return pmpi::Win_post(group, assert, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_wait, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_wait(win);
  entry::blocking_call guard;
  return pmpi::Win_wait(win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_lock, (int lock_type, int rank, int assert, MPI_Win win),
            (lock_type, rank, assert, win)) {
  if (!entry::active()) return pmpi::Win_lock(lock_type, rank, assert, win);
  entry::blocking_call guard;
  return pmpi::Win_lock(lock_type, rank, assert, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_lock_all, (int assert, MPI_Win win), (assert, win)) {
  if (!entry::active()) return pmpi::Win_lock_all(assert, win);
  entry::blocking_call guard;
  return pmpi::Win_lock_all(assert, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_unlock, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_unlock(rank, win);
  entry::blocking_call guard;
  return pmpi::Win_unlock(rank, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_unlock_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_unlock_all(win);
  entry::blocking_call guard;
  return pmpi::Win_unlock_all(win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_flush(rank, win);
  entry::blocking_call guard;
  return pmpi::Win_flush(rank, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_flush_all(win);
  entry::blocking_call guard;
  return pmpi::Win_flush_all(win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_local, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_flush_local(rank, win);
  entry::blocking_call guard;
  return pmpi::Win_flush_local(rank, win);
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_local_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_flush_local_all(win);
  entry::blocking_call guard;
  return pmpi::Win_flush_local_all(win);
}

#if TELPHER_HOST_HAS_Win_create_c  // large counts, MPI 4.0

// 12.2 Initialization
TELPHER_MPI(Win_create_c,
            (void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
             MPI_Win* win), (base, size, disp_unit, info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create_c(base, size, disp_unit, info, comm, win);
  if (int error = entry::refuse_device_memory(comm, "MPI_Win_create_c", {base})) return error;
  entry::blocking_call guard;
  return pmpi::Win_create_c(base, size, disp_unit, info, comm, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_c,
            (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
  entry::blocking_call guard;
  return pmpi::Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_shared_c,
            (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active())
    return pmpi::Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
  entry::blocking_call guard;
  return pmpi::Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
}

// 12.3 Communication calls
TELPHER_MPI(Put_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win)) {
  if (!entry::active())
    return pmpi::Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                       target_count, target_datatype, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Put_c",
                                              {origin_addr}))
    return error;
  return pmpi::Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
}

// 12.3 Communication calls
TELPHER_MPI(Get_c,
            (void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win)) {
  if (!entry::active())
    return pmpi::Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                       target_count, target_datatype, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Get_c",
                                              {origin_addr}))
    return error;
  return pmpi::Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
}

// 12.3 Communication calls
TELPHER_MPI(Accumulate_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, op, win)) {
  if (!entry::active())
    return pmpi::Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                              target_count, target_datatype, op, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Accumulate_c", {origin_addr}))
    return error;
  return pmpi::Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, op, win);
}

// 12.3 Communication calls
TELPHER_MPI(Get_accumulate_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win),
            (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
             target_rank, target_disp, target_count, target_datatype, op, win)) {
  if (!entry::active())
    return pmpi::Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                  result_count, result_datatype, target_rank, target_disp,
                                  target_count, target_datatype, op, win);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Get_accumulate_c", {origin_addr, result_addr}))
    return error;
  return pmpi::Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                result_count, result_datatype, target_rank, target_disp,
                                target_count, target_datatype, op, win);
}

// 12.3 Communication calls
TELPHER_MPI(Rput_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win, request)) {
  if (!entry::active())
    return pmpi::Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Rput_c",
                                              {origin_addr}))
    return error;
  return pmpi::Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Rget_c,
            (void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, win, request)) {
  if (!entry::active())
    return pmpi::Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win), "MPI_Rget_c",
                                              {origin_addr}))
    return error;
  return pmpi::Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Raccumulate_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
             target_datatype, op, win, request)) {
  if (!entry::active())
    return pmpi::Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, op, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Raccumulate_c", {origin_addr}))
    return error;
  return pmpi::Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, op, win, request);
}

// 12.3 Communication calls
TELPHER_MPI(Rget_accumulate_c,
            (const void* origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
             void* result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
             int target_rank, MPI_Aint target_disp, MPI_Count target_count,
             MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request* request),
            (origin_addr, origin_count, origin_datatype, result_addr, result_count, result_datatype,
             target_rank, target_disp, target_count, target_datatype, op, win, request)) {
  if (!entry::active())
    return pmpi::Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                   result_count, result_datatype, target_rank, target_disp,
                                   target_count, target_datatype, op, win, request);
  if (int error = entry::refuse_device_memory(host_mpi::error_owner::window(win),
                                              "MPI_Rget_accumulate_c", {origin_addr, result_addr}))
    return error;
  return pmpi::Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                 result_count, result_datatype, target_rank, target_disp,
                                 target_count, target_datatype, op, win, request);
}

#endif  // TELPHER_HOST_HAS_Win_create_c

}  // extern "C"
