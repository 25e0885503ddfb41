// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// One-sided communication (chapter 12),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/memory_kinds.hpp"
#include "mpi/names.hpp"
#include "rma/rma.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 12.2 Initialization
TELPHER_MPI(Win_create,
            (void* base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win),
            (base, size, disp_unit, info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create(base, size, disp_unit, info, comm, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {base});
  return rma::create({"MPI_Win_create", base, size, disp_unit, info, comm, win},
                     [&] { return pmpi::Win_create(base, size, disp_unit, info, comm, win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate,
            (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate(size, disp_unit, info, comm, baseptr, win);
  return rma::allocate({"MPI_Win_allocate", baseptr, size, disp_unit, info, comm, win},
                       mpi::asks_for_device_memory(info),
                       [&] { return pmpi::Win_allocate(size, disp_unit, info, comm, baseptr,
                                                       win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_shared,
            (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate_shared(size, disp_unit, info, comm, baseptr, win);
  return rma::allocate_shared({"MPI_Win_allocate_shared", baseptr, size, disp_unit, info, comm,
                               win}, mpi::asks_for_device_memory(info),
                              [&] { return pmpi::Win_allocate_shared(size, disp_unit, info, comm,
                                                                     baseptr, win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_shared_query,
            (MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr),
            (win, rank, size, disp_unit, baseptr)) {
  if (!entry::active()) return pmpi::Win_shared_query(win, rank, size, disp_unit, baseptr);
  return rma::shared_query(win, rank, size, disp_unit, baseptr,
                           [&] { return pmpi::Win_shared_query(win, rank, size, disp_unit,
                                                               baseptr); });
}

// 12.2 Initialization
TELPHER_MPI(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win* win), (info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create_dynamic(info, comm, win);
  return rma::create_dynamic(info, comm, win,
                             [&] { return pmpi::Win_create_dynamic(info, comm, win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_attach, (MPI_Win win, void* base, MPI_Aint size), (win, base, size)) {
  if (!entry::active()) return pmpi::Win_attach(win, base, size);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {base});
  return rma::attach(win, base, size, [&] { return pmpi::Win_attach(win, base, size); });
}

// 12.2 Initialization
TELPHER_MPI(Win_detach, (MPI_Win win, const void* base), (win, base)) {
  if (!entry::active()) return pmpi::Win_detach(win, base);
  return rma::detach(win, base, [&] { return pmpi::Win_detach(win, base); });
}

// 12.2 Initialization
TELPHER_MPI(Win_free, (MPI_Win* win), (win)) {
  if (!entry::active()) return pmpi::Win_free(win);
  return rma::free(win, [&] { return pmpi::Win_free(win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_set_info, (MPI_Win win, MPI_Info info), (win, info)) {
  if (!entry::active()) return pmpi::Win_set_info(win, info);
  entry::blocking_call guard;
  return pmpi::Win_set_info(win, info);
}

// 12.2 Initialization
TELPHER_MPI(Win_get_info, (MPI_Win win, MPI_Info* info_used), (win, info_used)) {
  if (!entry::active()) return pmpi::Win_get_info(win, info_used);
  const int code = pmpi::Win_get_info(win, info_used);
  if (code == MPI_SUCCESS) mpi::add_kinds(*info_used);
  return code;
}

// 12.2 Initialization
TELPHER_MPI(Win_get_attr, (MPI_Win win, int win_keyval, void* attribute_val, int* flag),
            (win, win_keyval, attribute_val, flag)) {
  if (!entry::active()) return pmpi::Win_get_attr(win, win_keyval, attribute_val, flag);
  return rma::get_attr(win, win_keyval, attribute_val, flag,
                       [&] { return pmpi::Win_get_attr(win, win_keyval, attribute_val, flag); });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Put", .what = rma::verb::put, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}};
  if (a.plain())
    return pmpi::Put(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Put(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                     target_count, target_datatype, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Get", .what = rma::verb::get, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .result = {origin_addr, origin_count, origin_datatype}};
  if (a.plain())
    return pmpi::Get(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                     target_count, target_datatype, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Get(s.result, origin_count, origin_datatype, target_rank, s.displacement,
                     target_count, target_datatype, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Accumulate", .what = rma::verb::accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .op = op};
  if (a.plain())
    return pmpi::Accumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                            target_count, target_datatype, op, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Accumulate(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                            target_count, target_datatype, op, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr, result_addr});
  const rma::access a{.call = "MPI_Get_accumulate", .what = rma::verb::get_accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype},
                      .result = {result_addr, result_count, result_datatype}, .op = op};
  if (a.plain())
    return pmpi::Get_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                result_count, result_datatype, target_rank, target_disp,
                                target_count, target_datatype, op, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Get_accumulate(s.origin, origin_count, origin_datatype, s.result, result_count,
                                result_datatype, target_rank, s.displacement, target_count,
                                target_datatype, op, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Rput", .what = rma::verb::put, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .request = request};
  if (a.plain())
    return pmpi::Rput(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rput(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                      target_count, target_datatype, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Rget", .what = rma::verb::get, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .result = {origin_addr, origin_count, origin_datatype}, .request = request};
  if (a.plain())
    return pmpi::Rget(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                      target_count, target_datatype, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rget(s.result, origin_count, origin_datatype, target_rank, s.displacement,
                      target_count, target_datatype, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Raccumulate", .what = rma::verb::accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .op = op,
                      .request = request};
  if (a.plain())
    return pmpi::Raccumulate(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                             target_count, target_datatype, op, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Raccumulate(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                             target_count, target_datatype, op, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr, result_addr});
  const rma::access a{.call = "MPI_Rget_accumulate", .what = rma::verb::get_accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype},
                      .result = {result_addr, result_count, result_datatype}, .op = op,
                      .request = request};
  if (a.plain())
    return pmpi::Rget_accumulate(origin_addr, origin_count, origin_datatype, result_addr,
                                 result_count, result_datatype, target_rank, target_disp,
                                 target_count, target_datatype, op, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rget_accumulate(s.origin, origin_count, origin_datatype, s.result, result_count,
                                 result_datatype, target_rank, s.displacement, target_count,
                                 target_datatype, op, win, request);
  });
}

// 12.3 Communication calls
TELPHER_MPI(Fetch_and_op,
            (const void* origin_addr, void* result_addr, MPI_Datatype datatype, int target_rank,
             MPI_Aint target_disp, MPI_Op op, MPI_Win win),
            (origin_addr, result_addr, datatype, target_rank, target_disp, op, win)) {
  if (!entry::active())
    return pmpi::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op,
                              win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr, result_addr});
  const rma::access a{.call = "MPI_Fetch_and_op", .what = rma::verb::get_accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = 1,
                      .type = datatype, .origin = {origin_addr, 1, datatype},
                      .result = {result_addr, 1, datatype}, .op = op};
  if (a.plain())
    return pmpi::Fetch_and_op(origin_addr, result_addr, datatype, target_rank, target_disp, op,
                              win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Fetch_and_op(s.origin, s.result, datatype, target_rank, s.displacement, op, win);
  });
}

// 12.3 Communication calls
TELPHER_MPI(Compare_and_swap,
            (const void* origin_addr, const void* compare_addr, void* result_addr,
             MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win),
            (origin_addr, compare_addr, result_addr, datatype, target_rank, target_disp, win)) {
  if (!entry::active())
    return pmpi::Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                  target_disp, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL,
                                                         {origin_addr, compare_addr, result_addr});
  const rma::access a{.call = "MPI_Compare_and_swap", .what = rma::verb::compare_and_swap,
                      .win = win, .rank = target_rank, .displacement = target_disp, .count = 1,
                      .type = datatype, .origin = {origin_addr, 1, datatype},
                      .result = {result_addr, 1, datatype}, .compare = compare_addr};
  if (a.plain())
    return pmpi::Compare_and_swap(origin_addr, compare_addr, result_addr, datatype, target_rank,
                                  target_disp, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Compare_and_swap(s.origin, s.compare, s.result, datatype, target_rank,
                                  s.displacement, win);
  });
}

#if TELPHER_HOST_HAS_Win_create_c  // large counts, MPI 4.0

// 12.2 Initialization
TELPHER_MPI(Win_create_c,
            (void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
             MPI_Win* win), (base, size, disp_unit, info, comm, win)) {
  if (!entry::active()) return pmpi::Win_create_c(base, size, disp_unit, info, comm, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(comm, {base});
  return rma::create({"MPI_Win_create_c", base, size, disp_unit, info, comm, win},
                     [&] { return pmpi::Win_create_c(base, size, disp_unit, info, comm, win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_c,
            (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active()) return pmpi::Win_allocate_c(size, disp_unit, info, comm, baseptr, win);
  return rma::allocate({"MPI_Win_allocate_c", baseptr, size, disp_unit, info, comm, win},
                       mpi::asks_for_device_memory(info),
                       [&] { return pmpi::Win_allocate_c(size, disp_unit, info, comm, baseptr,
                                                         win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_allocate_shared_c,
            (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
             MPI_Win* win), (size, disp_unit, info, comm, baseptr, win)) {
  if (!entry::active())
    return pmpi::Win_allocate_shared_c(size, disp_unit, info, comm, baseptr, win);
  return rma::allocate_shared({"MPI_Win_allocate_shared_c", baseptr, size, disp_unit, info, comm,
                               win}, mpi::asks_for_device_memory(info),
                              [&] { return pmpi::Win_allocate_shared_c(size, disp_unit, info, comm,
                                                                       baseptr, win); });
}

// 12.2 Initialization
TELPHER_MPI(Win_shared_query_c,
            (MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr),
            (win, rank, size, disp_unit, baseptr)) {
  if (!entry::active()) return pmpi::Win_shared_query_c(win, rank, size, disp_unit, baseptr);
  return rma::shared_query(win, rank, size, disp_unit, baseptr,
                           [&] { return pmpi::Win_shared_query_c(win, rank, size, disp_unit,
                                                                 baseptr); });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Put_c", .what = rma::verb::put, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}};
  if (a.plain())
    return pmpi::Put_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                       target_count, target_datatype, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Put_c(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                       target_count, target_datatype, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Get_c", .what = rma::verb::get, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .result = {origin_addr, origin_count, origin_datatype}};
  if (a.plain())
    return pmpi::Get_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                       target_count, target_datatype, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Get_c(s.result, origin_count, origin_datatype, target_rank, s.displacement,
                       target_count, target_datatype, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Accumulate_c", .what = rma::verb::accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .op = op};
  if (a.plain())
    return pmpi::Accumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                              target_count, target_datatype, op, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Accumulate_c(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                              target_count, target_datatype, op, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr, result_addr});
  const rma::access a{.call = "MPI_Get_accumulate_c", .what = rma::verb::get_accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype},
                      .result = {result_addr, result_count, result_datatype}, .op = op};
  if (a.plain())
    return pmpi::Get_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                  result_count, result_datatype, target_rank, target_disp,
                                  target_count, target_datatype, op, win);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Get_accumulate_c(s.origin, origin_count, origin_datatype, s.result, result_count,
                                  result_datatype, target_rank, s.displacement, target_count,
                                  target_datatype, op, win);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Rput_c", .what = rma::verb::put, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .request = request};
  if (a.plain())
    return pmpi::Rput_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rput_c(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                        target_count, target_datatype, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Rget_c", .what = rma::verb::get, .win = win, .rank = target_rank,
                      .displacement = target_disp, .count = target_count, .type = target_datatype,
                      .result = {origin_addr, origin_count, origin_datatype}, .request = request};
  if (a.plain())
    return pmpi::Rget_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rget_c(s.result, origin_count, origin_datatype, target_rank, s.displacement,
                        target_count, target_datatype, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr});
  const rma::access a{.call = "MPI_Raccumulate_c", .what = rma::verb::accumulate, .win = win,
                      .rank = target_rank, .displacement = target_disp, .count = target_count,
                      .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype}, .op = op,
                      .request = request};
  if (a.plain())
    return pmpi::Raccumulate_c(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                               target_count, target_datatype, op, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Raccumulate_c(s.origin, origin_count, origin_datatype, target_rank, s.displacement,
                               target_count, target_datatype, op, win, request);
  });
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
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {origin_addr, result_addr});
  const rma::access a{.call = "MPI_Rget_accumulate_c", .what = rma::verb::get_accumulate,
                      .win = win, .rank = target_rank, .displacement = target_disp,
                      .count = target_count, .type = target_datatype,
                      .origin = {origin_addr, origin_count, origin_datatype},
                      .result = {result_addr, result_count, result_datatype}, .op = op,
                      .request = request};
  if (a.plain())
    return pmpi::Rget_accumulate_c(origin_addr, origin_count, origin_datatype, result_addr,
                                   result_count, result_datatype, target_rank, target_disp,
                                   target_count, target_datatype, op, win, request);
  return a.run([&](const rma::stand_ins& s) {
    return pmpi::Rget_accumulate_c(s.origin, origin_count, origin_datatype, s.result, result_count,
                                   result_datatype, target_rank, s.displacement, target_count,
                                   target_datatype, op, win, request);
  });
}

#endif  // TELPHER_HOST_HAS_Win_create_c

}  // extern "C"
