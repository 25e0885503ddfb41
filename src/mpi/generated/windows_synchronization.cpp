// SPDX-License-Identifier: BSD-3-Clause
// generated from api.toml by generate.py; do not edit
// Synchronization of one-sided communication (chapter 12),
// in the sections of MPI 4.0.
#include "mpi/entry.hpp"
#include "mpi/names.hpp"
#include "rma/rma.hpp"
#include "stream/settle.hpp"

using namespace telpher;

extern "C" {

// 12.5 Synchronization calls
TELPHER_MPI(Win_fence, (int assert, MPI_Win win), (assert, win)) {
  if (!entry::active()) return pmpi::Win_fence(assert, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::fence(assert, win, [&] { return pmpi::Win_fence(assert, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win)) {
  if (!entry::active()) return pmpi::Win_start(group, assert, win);
  return rma::start(group, win, [&] { return pmpi::Win_start(group, assert, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_complete, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_complete(win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::complete(win, [&] { return pmpi::Win_complete(win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win)) {
  if (!entry::active()) return pmpi::Win_post(group, assert, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::post(group, assert, win, [&] { return pmpi::Win_post(group, assert, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_wait, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_wait(win);
  return rma::wait(win, [&] { return pmpi::Win_wait(win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_test, (MPI_Win win, int* flag), (win, flag)) {
  if (!entry::active()) return pmpi::Win_test(win, flag);
  return rma::test(win, flag, [&] { return pmpi::Win_test(win, flag); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_lock, (int lock_type, int rank, int assert, MPI_Win win),
            (lock_type, rank, assert, win)) {
  if (!entry::active()) return pmpi::Win_lock(lock_type, rank, assert, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::lock(lock_type, rank, assert, win,
                   [&] { return pmpi::Win_lock(lock_type, rank, assert, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_lock_all, (int assert, MPI_Win win), (assert, win)) {
  if (!entry::active()) return pmpi::Win_lock_all(assert, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::lock_all(assert, win, [&] { return pmpi::Win_lock_all(assert, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_unlock, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_unlock(rank, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::unlock(rank, win, [&] { return pmpi::Win_unlock(rank, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_unlock_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_unlock_all(win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::unlock_all(win, [&] { return pmpi::Win_unlock_all(win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_flush(rank, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::flush("MPI_Win_flush", rank, win, [&] { return pmpi::Win_flush(rank, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_flush_all(win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::flush("MPI_Win_flush_all", rma::everyone, win,
                    [&] { return pmpi::Win_flush_all(win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_local, (int rank, MPI_Win win), (rank, win)) {
  if (!entry::active()) return pmpi::Win_flush_local(rank, win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::flush("MPI_Win_flush_local", rank, win,
                    [&] { return pmpi::Win_flush_local(rank, win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_flush_local_all, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_flush_local_all(win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::flush("MPI_Win_flush_local_all", rma::everyone, win,
                    [&] { return pmpi::Win_flush_local_all(win); });
}

// 12.5 Synchronization calls
TELPHER_MPI(Win_sync, (MPI_Win win), (win)) {
  if (!entry::active()) return pmpi::Win_sync(win);
  if (stream::must_settle()) [[unlikely]] stream::settle(MPI_COMM_NULL, {});
  return rma::sync(win, [&] { return pmpi::Win_sync(win); });
}

}  // extern "C"
