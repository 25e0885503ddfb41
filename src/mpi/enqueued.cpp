// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/enqueued.hpp"

#include <cstdio>

#include "mpi/entry.hpp"
#include "mpi/inbox_requests.hpp"
#include "mpi/matching.hpp"
#include "stream/settle.hpp"

namespace telpher::mpi {
namespace {

int refuse(MPI_Comm comm, const char* call, int error_class, const char* why) noexcept {
  return host_mpi::fail_with(comm, call, error_class, why);
}

// MPI_SUCCESS where calls can be enqueued at all.
int ready(const char* call, MPI_Comm comm) noexcept {
  if (!entry::active())
    return refuse(comm, call, MPI_ERR_OTHER,
                  "no rank of this job has a device (telpher info says why), or it is called "
                  "outside of MPI_Init and MPI_Finalize");
  if (!ticket::progress().threaded())
    return refuse(comm, call, MPI_ERR_OTHER,
                  "a thread of Telpher's calls MPI for it, and MPI runs below MPI_THREAD_MULTIPLE: "
                  "ask for that level in MPI_Init_thread, or set TELPHER_STREAMS=on");
  return MPI_SUCCESS;
}

}  // namespace

enqueued_request::~enqueued_request() {
  if (place_ != MPI_REQUEST_NULL) give_handle(place_);
}

bool enqueued_wait::poll(int& code) noexcept {
  int flag = 0;
  const int count = static_cast<int>(all_.size());
  code = count == 1 ? requests::test(all_.data(), &flag, statuses_)
                    : requests::testall(count, all_.data(), &flag, statuses_);
  return flag != 0 || code != MPI_SUCCESS;
}

int enqueue(const char* call, MPI_Comm comm, void* native, std::unique_ptr<stream::operation> op,
            bool holds) noexcept {
  if (const int code = ready(call, comm); code != MPI_SUCCESS) return code;
  return report(call, comm, native, stream::enqueue(native, std::move(op), holds));
}

int report(const char* call, MPI_Comm comm, void* native, const stream::refusal& r) noexcept {
  if (r.s == status::ok) return MPI_SUCCESS;
  char why[320];
  std::snprintf(why, sizeof why, "stream %p: %s (%s)", native, r.why, to_string(r.s));
  return refuse(comm, call, r.s == status::invalid_argument ? MPI_ERR_ARG : MPI_ERR_OTHER, why);
}

int take_request(const std::shared_ptr<ending>& end, void* native, MPI_Request* request) noexcept {
  *request = MPI_REQUEST_NULL;
  if (!entry::active()) return MPI_SUCCESS;  // enqueue says so
  auto held = ticket::progress().lock();
  return give_request<enqueued_request>(request, end, native);
}

void drop_request(MPI_Request* request) noexcept {
  if (*request == MPI_REQUEST_NULL) return;
  auto held = ticket::progress().lock();
  remove(*request);
  *request = MPI_REQUEST_NULL;
}

namespace {

// Handles that end with the wait become null now: the program must not use them any more. Those of
// the host MPI's own that end so cannot be told from persistent ones.
bool gather(int count, MPI_Request* requests, std::vector<MPI_Request>& all, bool& ends) noexcept {
  void* native = nullptr;
  auto held = ticket::progress().lock();
  for (int i = 0; i < count; ++i) {
    request_object* const op = find(requests[i]);
    if (op && !op->persistent() && !op->enqueued_in(native)) return false;
  }
  for (int i = 0; i < count; ++i) {
    all.push_back(requests[i]);
    const request_object* const op = find(requests[i]);
    if (!op || op->persistent()) continue;
    requests[i] = MPI_REQUEST_NULL;
    ends = true;
  }
  return true;
}

// By the proxy.
int enqueue_test(const char* call, int count, MPI_Request* requests, MPI_Status* statuses,
                 void* native) noexcept {
  if (const int code = ready(call, MPI_COMM_SELF); code != MPI_SUCCESS) return code;
  std::vector<MPI_Request> all;
  bool ends = false;
  if (!gather(count, requests, all, ends))
    return refuse(MPI_COMM_SELF, call, MPI_ERR_REQUEST,
                  "it takes requests of calls that enqueue, persistent and partitioned ones only; "
                  "complete others by MPI_Wait");
  const std::vector<MPI_Request> before = all;
  const int code = enqueue(call, MPI_COMM_SELF, native,
                           std::make_unique<enqueued_wait>(std::move(all), statuses, ends), true);
  if (code != MPI_SUCCESS) std::copy(before.begin(), before.end(), requests);
  return code;
}

}  // namespace

// Matched requests and messages through an inbox need no turn of the proxy's. Beside them the
// others are waited for one by one, so that each status is written once.
int enqueue_wait(const char* call, int count, MPI_Request* requests, MPI_Status* statuses,
                 void* native) noexcept {
  if (count < 0) return refuse(MPI_COMM_SELF, call, MPI_ERR_COUNT, "a negative number of requests");
  if (!entry::active()) return ready(call, MPI_COMM_SELF);
  std::vector<int> others;
  int rc = partitioned::wait_matched(call, count, requests, statuses, native, others);
  if (rc == MPI_SUCCESS && !others.empty())
    rc = wait_through_inbox(call, requests, statuses, native, others);
  if (rc != MPI_SUCCESS || others.empty()) return rc;
  if (static_cast<int>(others.size()) == count)
    return enqueue_test(call, count, requests, statuses, native);
  for (const int i : others)
    if (rc == MPI_SUCCESS)
      rc = enqueue_test(call, 1, &requests[i],
                        statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i], native);
  return rc;
}

}  // namespace telpher::mpi
