// SPDX-License-Identifier: BSD-3-Clause
// What the calls that complete requests have in common: the scope of such a call, the end of an
// operation, and which requests are ours.
#pragma once

#include <algorithm>
#include <memory>

#include "mpi/entry.hpp"
#include "mpi/host_requests.hpp"
#include "mpi/request_kinds.hpp"

namespace telpher::requests {

using mpi::by_host;
using mpi::request_object;
using ticket::progress;
using ticket::progress_engine;

/// How many receives the host MPI is asked for with one call.
constexpr int at_once = ticket::receive_list::at_once;

inline MPI_Status* at(MPI_Status* statuses, int i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

inline void set_error(MPI_Status* status, int error) noexcept {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
}

/// Ends an operation that is done: the program's handle becomes null, or inactive if persistent.
inline int finish(MPI_Request* request, request_object& op, MPI_Status* status) noexcept {
  if (op.persistent()) return op.finish(status);
  auto owned = mpi::remove(*request);
  *request = MPI_REQUEST_NULL;
  return owned->finish(status);
}

/// Nothing of ours is under way or known to the program, and no other thread can change that.
inline bool all_native() noexcept {
  const progress_engine& e = progress();
  return !e.threaded() && e.idle() && mpi::open_requests() == 0 && mpi::abandoned() == 0;
}

// --- fast path ---

/// The same where no call is recorded, for the wrappers.
[[gnu::always_inline]] inline bool none_of_ours() noexcept {
  return short_way::open() && progress().idle() && mpi::open_requests() == 0 &&
         mpi::abandoned() == 0;
}
inline int wait_at_once(MPI_Request* request, MPI_Status* status) noexcept {
  return by_host(request, &mpi::always, [=] { return pmpi::Wait(request, status); });
}
inline int test_at_once(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  return by_host(request, flag, [=] { return pmpi::Test(request, flag, status); });
}
inline int waitall_at_once(int count, MPI_Request* requests, MPI_Status* statuses) noexcept {
  return mpi::all_by_host("MPI_Waitall", count, requests, &mpi::always,
                          [=] { return pmpi::Waitall(count, requests, statuses); });
}
inline int testall_at_once(int count, MPI_Request* requests, int* flag,
                           MPI_Status* statuses) noexcept {
  return mpi::all_by_host("MPI_Testall", count, requests, flag,
                          [=] { return pmpi::Testall(count, requests, flag, statuses); });
}

inline int waitany_at_once(int count, MPI_Request* requests, int* index,
                           MPI_Status* status) noexcept {
  return by_host(
      "MPI_Waitany", count, requests, [=] { return pmpi::Waitany(count, requests, index, status); },
      mpi::the_one_at{index, &mpi::always});
}
inline int testany_at_once(int count, MPI_Request* requests, int* index, int* flag,
                           MPI_Status* status) noexcept {
  return by_host(
      "MPI_Testany", count, requests,
      [=] { return pmpi::Testany(count, requests, index, flag, status); },
      mpi::the_one_at{index, flag});
}

// --- slow path ---

struct scope : ticket::visit {
  progress_engine& e = progress();
  scope() noexcept { mpi::sweep(); }
};

inline bool any_ours(int count, const MPI_Request* requests) noexcept {
  return mpi::open_requests() > 0 && std::any_of(requests, requests + count, [](MPI_Request r) {
           return mpi::find_open(r) != nullptr;
         });
}

}  // namespace telpher::requests
