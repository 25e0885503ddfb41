// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/handles.hpp"

#include <vector>

#include "base/lasting.hpp"
#include "host_mpi/received.hpp"
#include "mpi/request_object.hpp"
#include "ticket/progress.hpp"

namespace telpher::mpi {
namespace {

/// What the host MPI hands to a handle's functions.
struct handle {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;  // of its end, if that is native
  MPI_Status status{};
};

// All below under the progress lock.
lasting<std::vector<handle*>> all_handles;
lasting<std::vector<MPI_Request>> idle_handles;

int query(void* state, MPI_Status* status) noexcept {
  const handle& h = *static_cast<handle*>(state);
  host_mpi::copy_status(status, h.status);
  return h.code;
}

int end(void* state) noexcept {
  auto held = ticket::progress().lock();
  auto* const h = static_cast<handle*>(state);
  std::erase(*all_handles, h);
  delete h;
  return MPI_SUCCESS;
}

int cancel(void* state, int complete) noexcept {
  auto held = ticket::progress().lock();
  request_object* const op = complete ? nullptr : find(static_cast<handle*>(state)->request);
  if (op) op->cancel();
  return MPI_SUCCESS;
}

/// An operation that is done, and whose handle other code waits for, ends.
bool end_natively(handle& h) noexcept {
  request_object* const there = find(h.request);
  if (!there || !there->check()) return false;
  auto op = remove(h.request);
  op->leave_handle();
  h.code = op->finish(&h.status);
  pmpi::Grequest_complete(h.request);
  return true;
}

// --- MPICH ---

using grequest_start = int(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                           MPI_Grequest_cancel_function*, int (*poll)(void*, MPI_Status*),
                           int (*wait)(int, void**, double, MPI_Status*), void*, MPI_Request*);

int poll(void* state, MPI_Status*) noexcept {
  const ticket::visit v;
  ticket::progress().poll(true);
  ticket::progress().listen();
  end_natively(*static_cast<handle*>(state));
  return MPI_SUCCESS;
}

int wait(int count, void** states, double, MPI_Status*) noexcept {
  ticket::visit v;
  for (int i = 0; i < count; ++i)
    ticket::progress().wait_until(v.held, "PMPI_Wait past Telpher",
                                  [&] { return end_natively(*static_cast<handle*>(states[i])); });
  return MPI_SUCCESS;
}

grequest_start* start_with_poll = nullptr;  // null: the host MPI has none

int make_handle(MPI_Request* request) noexcept {
  auto* const h = new handle;
  fill_empty(&h->status);
  const int code = start_with_poll ? start_with_poll(query, end, cancel, poll, wait, h, request)
                                   : pmpi::Grequest_start(query, end, cancel, h, request);
  h->request = *request;
  if (code == MPI_SUCCESS)
    all_handles->push_back(h);
  else
    delete h;
  return code;
}

// --- Open MPI ---

#ifdef OPEN_MPI
using progress_call = int() noexcept;

// So many calls of the host's progress loop in a row, without Telpher at work in this thread, show
// that other code waits and does nothing else.
constexpr unsigned many = 256;

int while_host_progresses() noexcept {
  using ticket::held_lock;
  if (held_lock::inside() || ++held_lock::passed_by() % many != 0 || open_requests() == 0) return 0;
  if (ticket::peers().own().header().blocked.load(std::memory_order_relaxed) != 0) return 0;
  const unsigned passed = held_lock::passed_by();
  int ended = 0;
  {
    const ticket::visit v;
    ticket::progress().poll(true);
    ticket::progress().listen();
    for (handle* h : std::vector(*all_handles)) ended += end_natively(*h);
  }
  held_lock::passed_by() = passed;
  return ended;
}

void register_with_progress(const char* function) noexcept {
  if (auto* const f = host_mpi::find_function<int(progress_call*)>(function))
    f(while_host_progresses);
}
#endif

}  // namespace

int take_handle(MPI_Request* request) noexcept {
  if (idle_handles->empty()) return make_handle(request);
  *request = idle_handles->back();
  idle_handles->pop_back();
  return MPI_SUCCESS;
}

void give_handle(MPI_Request request) noexcept {
  idle_handles->push_back(request);
}

void begin_handles() noexcept {
#ifdef OPEN_MPI
  register_with_progress("opal_progress_register");
#else
  auto* const f = host_mpi::find_function<grequest_start>("PMPIX_Grequest_start");
  start_with_poll = f ? f : host_mpi::find_function<grequest_start>("MPIX_Grequest_start");
#endif
}

void end_handles() noexcept {
#ifdef OPEN_MPI
  register_with_progress("opal_progress_unregister");
#endif
  for (MPI_Request& r : *idle_handles) {
    pmpi::Grequest_complete(r);
    pmpi::Request_free(&r);
  }
  idle_handles->clear();
}

}  // namespace telpher::mpi
