// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/requests.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/trace.hpp"
#include "mpi/completion.hpp"

namespace telpher::requests {

namespace {

// A request that is the host MPI's alone.
int wait_native(scope& s, MPI_Request* request, MPI_Status* status) noexcept {
  return s.e.idle() && !s.held ? wait_at_once(request, status)
                               : mpi::wait_beside(s.held, "MPI_Wait", request, status);
}

// False: the request is the host MPI's. One of ours has left the table while it is waited for: its
// handle may end, and be given out again, while its bytes are still on their way.
bool wait_ours(scope& s, MPI_Request* request, MPI_Status* status, int* rc) noexcept {
  if (mpi::open_requests() == 0) return false;
  request_object* const op = mpi::take_for_waiting(*request);
  if (!op) return false;
  std::unique_ptr<request_object> owned;
  if (!op->persistent()) {
    owned.reset(op);
    *request = MPI_REQUEST_NULL;
  }
  s.e.wait_until(s.held, "MPI_Wait", [&] { return op->conclude(); });
  *rc = op->finish(status);
  return true;
}

int wait_one(scope& s, MPI_Request* request, MPI_Status* status) noexcept {
  int rc = MPI_SUCCESS;
  return wait_ours(s, request, status, &rc) ? rc : wait_native(s, request, status);
}

// Until no message of these is missing. To ask for all costs the host MPI a look at each. So while
// some are missing only the last one is asked for, which mostly comes last.
void conclude(scope& s, std::span<ticket::receive* const> all) noexcept {
  ticket::receive_list& list = ticket::receives();
  ticket::receive* last = nullptr;
  s.e.wait_until(s.held, "MPI_Waitall", [&] {
    if (last && last->posted()) list.check(*last, true);
    if (last && last->posted()) return false;
    if (list.conclude(all)) return true;
    const auto missing =
        std::find_if(all.rbegin(), all.rend(), [](auto* r) { return r->posted(); });
    last = missing == all.rend() ? nullptr : *missing;
    return false;
  });
}

/// The objects of at most `at_once` requests; null for those of the host MPI and null handles.
using some_ops = std::array<request_object*, at_once>;

// Ours of these and the null ones; the host MPI's are left. MPI_Waitall's code. The messages of
// receives are asked for together.
int wait_some_ours(scope& s, some_ops& ops, int count, MPI_Request* requests,
                   MPI_Status* statuses) noexcept {
  std::array<ticket::receive*, at_once> receives;
  std::size_t posted = 0;
  for (int i = 0; i < count; ++i) {
    request_object* const op = mpi::open_requests() > 0 && requests[i] != MPI_REQUEST_NULL
                                   ? mpi::take_for_waiting(requests[i])
                                   : nullptr;
    ops[static_cast<std::size_t>(i)] = op;
    if (!op) {
      if (requests[i] == MPI_REQUEST_NULL) {
        mpi::fill_empty(at(statuses, i));
        set_error(at(statuses, i), MPI_SUCCESS);
      }
      continue;
    }
    if (!op->persistent()) requests[i] = MPI_REQUEST_NULL;
    if (ticket::receive* const r = op->receiving()) receives[posted++] = r;
  }
  if (posted > 1) conclude(s, {receives.data(), posted});
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    request_object* const op = ops[static_cast<std::size_t>(i)];
    if (!op) continue;
    const std::unique_ptr<request_object> owned(op->persistent() ? nullptr : op);
    if (!op->conclude()) s.e.wait_until(s.held, "MPI_Waitall", [&] { return op->conclude(); });
    const int rc = op->finish(at(statuses, i));
    set_error(at(statuses, i), rc);
    if (rc != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
  }
  return result;
}

// What is left then: in runs, where nothing of ours needs this rank meanwhile. (MPICH 5.0's
// MPI_Testall reports errors that there are not where collectives are among the requests.)
int wait_some_natives(scope& s, const some_ops& ops, int count, MPI_Request* requests,
                      MPI_Status* statuses) noexcept {
  const auto is_native = [&](int i) {
    return !ops[static_cast<std::size_t>(i)] && requests[i] != MPI_REQUEST_NULL;
  };
  int result = MPI_SUCCESS;
  for (int i = 0; i < count;) {
    if (!is_native(i)) {
      ++i;
      continue;
    }
    int n = 1, rc = MPI_SUCCESS;
    if (s.e.idle() && !s.held) {
      while (i + n < count && is_native(i + n)) ++n;
      MPI_Status* const to = statuses == MPI_STATUSES_IGNORE ? statuses : statuses + i;
      rc = waitall_at_once(n, requests + i, to);
    } else {
      rc = mpi::wait_beside(s.held, "MPI_Waitall", requests + i, at(statuses, i));
    }
    if (rc != MPI_ERR_IN_STATUS)
      for (int k = i; k < i + n; ++k) set_error(at(statuses, k), rc);
    if (rc != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
    i += n;
  }
  return result;
}

}  // namespace

bool known(int count, const MPI_Request* requests) noexcept {
  if (!entry::active()) return false;
  const auto held = progress().lock();
  return any_ours(count, requests);
}

// --- one request ---

int wait(MPI_Request* request, MPI_Status* status) noexcept {
  trace::span traced("MPI_Wait");
  if (all_native()) return wait_at_once(request, status);
  if (*request == MPI_REQUEST_NULL) return pmpi::Wait(request, status);
  scope s;
  return wait_one(s, request, status);
}

int test(MPI_Request* request, int* flag, MPI_Status* status) noexcept {
  if (all_native()) return test_at_once(request, flag, status);
  scope s;
  s.e.poll();
  request_object* op = mpi::find_open(*request);
  if (!op) return test_at_once(request, flag, status);
  *flag = op->check();
  return *flag ? finish(request, *op, status) : MPI_SUCCESS;
}

int get_status(MPI_Request request, int* flag, MPI_Status* status) noexcept {
  scope s;
  s.e.poll();
  request_object* op = mpi::find_open(request);
  if (!op) return pmpi::Request_get_status(request, flag, status);
  *flag = op->check();
  if (*flag) op->fill(status);
  return MPI_SUCCESS;
}

namespace {

// In the calling thread, without the lock: a stream may stand behind a message of another thread's.
[[gnu::cold]] void settle_start(MPI_Request request) noexcept {
  stream::used u;
  {
    const auto held = progress().lock();
    if (const request_object* const op = mpi::find(request)) u = op->used_by_start();
  }
  stream::settle(u);
}

int refuse_second_start(MPI_Comm comm) noexcept {
  return host_mpi::fail_with(comm != MPI_COMM_NULL ? comm : MPI_COMM_SELF, "MPI_Start",
                             MPI_ERR_REQUEST,
                             "the request was started and has not been completed since: wait for "
                             "it before it is started again");
}

int start_one(MPI_Request* request) noexcept {
  request_object* op = mpi::find(*request);
  if (!op || !op->persistent()) return pmpi::Start(request);
  if (op->active()) [[unlikely]]
    return refuse_second_start(op->used_by_start().comm);
  return op->start();
}

}  // namespace

int start(MPI_Request* request) noexcept {
  trace::span traced("MPI_Start");
  if (stream::must_settle()) [[unlikely]]
    settle_start(*request);
  const scope s;
  return start_one(request);
}

int startall(int count, MPI_Request requests[]) noexcept {
  trace::span traced("MPI_Startall", [&] { return trace::facts().add("requests", count); });
  if (count < 0) return pmpi::Startall(count, requests);
  if (stream::must_settle()) [[unlikely]]
    std::for_each_n(requests, count, settle_start);
  const scope s;
  for (int i = 0; i < count; ++i)
    if (const int rc = start_one(&requests[i]); rc != MPI_SUCCESS) return rc;
  return MPI_SUCCESS;
}

int cancel(MPI_Request* request) noexcept {
  scope s;
  request_object* op = mpi::find_open(*request);
  if (!op) return pmpi::Cancel(request);
  op->cancel();
  return MPI_SUCCESS;
}

int free(MPI_Request* request) noexcept {
  scope s;
  auto op = mpi::remove(*request);
  if (!op && ticket::plain().holds(*request))
    op = std::make_unique<mpi::freed_plain_receive>(*request);
  if (!op) return pmpi::Request_free(request);
  *request = MPI_REQUEST_NULL;
  if (!op->abandon()) mpi::keep_abandoned(std::move(op));
  return MPI_SUCCESS;
}

// --- all ---

int waitall(int count, MPI_Request requests[], MPI_Status statuses[]) noexcept {
  trace::span traced("MPI_Waitall", [&] { return trace::facts().add("requests", count); });
  if (count < 0) return pmpi::Waitall(count, requests, statuses);
  if (all_native()) return waitall_at_once(count, requests, statuses);
  scope s;
  if (s.e.idle() && !s.held && !any_ours(count, requests))
    return waitall_at_once(count, requests, statuses);
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; i += at_once) {
    const int n = std::min(at_once, count - i);
    MPI_Status* const to = statuses == MPI_STATUSES_IGNORE ? statuses : statuses + i;
    some_ops ops;
    for (const int rc : {wait_some_ours(s, ops, n, requests + i, to),
                         wait_some_natives(s, ops, n, requests + i, to)})
      if (rc != MPI_SUCCESS) result = rc;
  }
  return result;
}

}  // namespace telpher::requests
