// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/request_kinds.hpp"

#include "host_mpi/error.hpp"
#include "host_mpi/revoked.hpp"
#include "mpi/entry.hpp"
#include "mpi/handles.hpp"
#include "mpi/plain_receive.hpp"

namespace telpher::mpi {
namespace {

bool native_done(MPI_Request request) noexcept {
  int flag = 0;
  return host_mpi::look_at(request, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

}  // namespace

// --- sends ---

ticket_send::~ticket_send() {
  if (request_ != MPI_REQUEST_NULL) give_handle(request_);
  ticket::sends().release(send_);
}

void ticket_send::withdraw_if_revoked() noexcept {
  const MPI_Comm comm = errors_.get();
  if (comm != MPI_COMM_NULL && host_mpi::is_revoked(comm)) send_.withdraw();
}

int ticket_send::finish(MPI_Status* out) noexcept {
  fill_empty(out);
  const status s = send_.outcome();
  if (s == status::ok) return MPI_SUCCESS;
  if (send_.host_error() != MPI_SUCCESS) return send_.host_error();  // its handler was called
  if (s == status::host_mpi_error && errors_.get() != MPI_COMM_NULL)
    if (const int rc = host_mpi::refuse_if_revoked(errors_.get()); rc != MPI_SUCCESS) return rc;
  return entry::fail(errors_.owner(), call_, s, "sending device memory");
}

bool native_send::check() noexcept {
  return native_done(request_);
}

int native_send::finish(MPI_Status* out) noexcept {
  return pmpi::Wait(&request_, out);
}

void native_send::fill(MPI_Status* out) noexcept {
  int flag = 0;
  host_mpi::look_at(request_, &flag, out);
}

// --- receives ---

bool freed_plain_receive::check() noexcept {
  return native_done(request_);
}

int freed_plain_receive::finish(MPI_Status* out) noexcept {
  fill_empty(out);
  ticket::plain().ended(request_);
  return pmpi::Request_free(&request_);
}

receive_request::~receive_request() {
  if (request_ != MPI_REQUEST_NULL) give_handle(request_);
  ticket::receives().forget(receive_);
}

int receive_request::take_request() noexcept {
  return take_handle(&request_);
}

bool receive_request::check() noexcept {
  ticket::receives().check(receive_, false);
  return receive_.settled();
}

bool receive_request::conclude() noexcept {
  ticket::receives().check(receive_, true);
  return receive_.settled();
}

void receive_request::finish_quietly() noexcept {
  receive_.finish_quietly();
}

int receive_request::finish(MPI_Status* out) noexcept {
  const int rc = receive_.finish(out);
  if (rc != MPI_SUCCESS || receive_.outcome() == status::ok) return rc;
  char what[160];
  receive_.describe(what, sizeof what);
  return entry::fail(receive_.error_owner(), call_, receive_.outcome(), what);
}

// --- both ---

bool sendrecv_request::check() noexcept {
  const bool sent = send_->check();
  return receive_->check() && sent;
}

sendrecv_request::~sendrecv_request() {
  if (request_ != MPI_REQUEST_NULL) give_handle(request_);
}

void sendrecv_request::finish_quietly() noexcept {
  send_->finish_quietly();
  receive_->finish_quietly();
}

int sendrecv_request::finish(MPI_Status* out) noexcept {
  const int sent = send_->finish(MPI_STATUS_IGNORE);
  const int received = receive_->finish(out);
  return sent != MPI_SUCCESS ? sent : received;
}

// --- persistent ---

// Of a type that the host MPI takes with no elements, whatever it is, nothing is needed. One that
// lives to the end is taken as it is: receives of such are begun sooner.
persistent_request::persistent_request(const pt2pt::send_args& a, MPI_Request place) noexcept
    : request_object(true), is_send_(true), send_(a), comm_(a.comm), place_(place) {
  keep_type(send_.type);
}

persistent_request::persistent_request(const pt2pt::receive_args& a, MPI_Request place) noexcept
    : request_object(true), is_send_(false), receive_(a), comm_(a.comm), place_(place) {
  keep_type(receive_.type);
}

void persistent_request::keep_type(MPI_Datatype& type) noexcept {
  if (type == MPI_DATATYPE_NULL) {
    type = MPI_BYTE;
    return;
  }
  const auto layout = datatype::layout_of(type);
  const bool stays = layout && (*layout)->predefined;
  if (stays) return;
  type_ = datatype::duplicate_of(type, ticket::job().control);
  if (type_ != MPI_DATATYPE_NULL) type = type_;
}

persistent_request::~persistent_request() {
  if (type_ != MPI_DATATYPE_NULL) pmpi::Type_free(&type_);
}

stream::used persistent_request::used_by_start() const noexcept {
  using enum stream::used::how;
  if (is_send_) return {send_.comm, send_.buffer, sends};
  return {receive_.comm, receive_.buffer, otherwise};
}

int persistent_request::start() noexcept {
  int rc = MPI_SUCCESS;
  if (comm_.get() == MPI_COMM_NULL)  // its handle may be another communicator's by now
    return host_mpi::fail_with(comm_.owner(), "MPI_Start", MPI_ERR_COMM,
                               "the request's communicator was freed: free it after the request");
  if (is_send_)
    run(start_send(send_, true, &rc));
  else if (!start_plain(receive_, place_, &rc))
    run(start_receive(receive_, &rc));
  return rc;
}

int persistent_request::finish(MPI_Status* out) noexcept {
  if (!running_) {
    fill_empty(out);
    return MPI_SUCCESS;
  }
  const int rc = running_->finish(out);
  run(nullptr);
  return rc;
}

bool persistent_request::abandon() noexcept {
  if (ticket::plain().holds(place_))
    keep_abandoned(std::make_unique<freed_plain_receive>(place_));
  else
    pmpi::Request_free(&place_);
  if (running_ && !running_->abandon()) keep_abandoned(std::move(running_));
  return true;
}

collective_request::~collective_request() {
  if (place_ != MPI_REQUEST_NULL) give_handle(place_);
}

int collective_request::start() noexcept {
  done_ = false;
  started_ = true;
  if (const status s = work_->before_start(); s != status::ok)
    return entry::fail(work_->owner(errors_), call_, s,
                       "its start: a device buffer could not be staged");
  return pmpi::Start(&native_);
}

bool collective_request::check() noexcept {
  if (done_ || !active()) return true;
  if (!native_done(native_) || !work_->ended()) return false;
  outcome_ = work_->after_completion();
  done_ = true;
  return true;
}

int collective_request::finish(MPI_Status* out) noexcept {
  const bool was_active = active();
  started_ = false;
  fill_empty(out);
  if (!was_active) return MPI_SUCCESS;
  const int rc = pmpi::Wait(&native_, out);
  if (rc != MPI_SUCCESS || outcome_ == status::ok) return rc;
  return entry::fail(work_->owner(errors_), call_, outcome_, "the copies of its device buffers");
}

void collective_request::fill(MPI_Status* out) noexcept {
  fill_empty(out);
  int flag = 0;
  if (active()) host_mpi::look_at(native_, &flag, out);
}

// The host MPI lets only persistent ones be freed.
void collective_request::finish_quietly() noexcept {
  if (active()) pmpi::Wait(&native_, MPI_STATUS_IGNORE);
  started_ = false;
}

bool collective_request::abandon() noexcept {
  work_->given_up();
  if (persistent_ && !started_) {
    pmpi::Request_free(&native_);
    return true;
  }
  return false;
}

}  // namespace telpher::mpi

namespace telpher::staging {

void attach(const char* call, MPI_Comm comm, MPI_Request* request, std::unique_ptr<pending> work,
            bool persistent) noexcept {
  auto held = ticket::progress().lock();
  const MPI_Request native = *request;
  MPI_Request place = MPI_REQUEST_NULL;
  // Without a handle the program keeps the native request, which our wrappers wait for as well.
  if (!persistent && mpi::take_handle(&place) == MPI_SUCCESS) *request = place;
  mpi::enter(std::make_unique<mpi::collective_request>(call, comm, native, place, std::move(work),
                                                       persistent));
}

}  // namespace telpher::staging
