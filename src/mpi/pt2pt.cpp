// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/pt2pt.hpp"

#include <climits>

#include "memory/windows.hpp"
#include "mpi/entry.hpp"
#include "mpi/handles.hpp"
#include "mpi/host_requests.hpp"
#include "mpi/request_kinds.hpp"
#include "mpi/plain_receive.hpp"
#include "mpi/send.hpp"
#include "mpi/trace_facts.hpp"
#include "ticket/blocking_call.hpp"
#include "ticket/stash.hpp"

namespace telpher::pt2pt {

using mpi::request_object;
using ticket::held_lock;
using ticket::progress;
using ticket::progress_engine;
using ticket::visit;

namespace {

/// Waits for an operation and ends it.
int wait_for(progress_engine& e, held_lock& held, request_object& op, const char* call,
             MPI_Status* status) noexcept {
  e.wait_until(held, call, [&] { return op.conclude(); });
  return op.finish(status);
}

// Sends host bytes while something of ours is under way, or may be by other threads.
int send_beside(progress_engine& e, held_lock& held, const send_args& a) noexcept {
  MPI_Request native = MPI_REQUEST_NULL;
  if (held) held.unlock();  // it may copy the bytes
  int rc = mpi::host_isend(a, &native);
  if (e.threaded()) held.lock();
  if (rc == MPI_SUCCESS) rc = host_mpi::started(rc, native);
  return rc == MPI_SUCCESS ? mpi::wait_for_send(held, a.call, &native, MPI_STATUS_IGNORE) : rc;
}

// Hands an operation to the program as a request. A native send that is complete at once needs no
// record, and must have none: hosts give one shared handle to all sends of that kind.
int publish(std::unique_ptr<request_object> op, MPI_Request* request) noexcept {
  *request = op->request();
  if (op->may_share_handle() && op->check()) return MPI_SUCCESS;
  mpi::enter(std::move(op));
  return MPI_SUCCESS;
}

// The host MPI's persistent request, which is never started, checks the arguments and holds the
// place of an operation of ours.
template <class Arguments>
int make_persistent(const Arguments& a, MPI_Request* request,
                    int (*host_init)(const Arguments&, MPI_Request*)) noexcept {
  *request = MPI_REQUEST_NULL;
  int rc = entry::refuse_if_short(a.comm, a.call);
  if (rc == MPI_SUCCESS) rc = host_init(a, request);
  if (rc == MPI_SUCCESS) rc = host_mpi::started(rc, *request);
  if (rc != MPI_SUCCESS) return rc;
  auto held = progress().lock();
  mpi::enter(std::make_unique<mpi::persistent_request>(a, *request));
  return MPI_SUCCESS;
}

}  // namespace

// --- send ---

int send(const send_args& a) noexcept {
  trace::span traced(a.call, [&] { return mpi::facts_of(a); });
  progress_engine& e = progress();
  mpi::outgoing o = mpi::inspect(a);
  visit v;
  held_lock& held = v.held;
  const bool stands_alone = (e.idle() && !held) || a.destination == MPI_PROC_NULL;
  if (!o.on_device()) return stands_alone ? mpi::host_send(a) : send_beside(e, held, a);
  int rc = MPI_SUCCESS;
  o.may_wait = true;
  auto op = mpi::start_device_send(a, std::move(o), false, &rc);
  if (!op) return rc;
  return wait_for(e, held, *op, a.call, MPI_STATUS_IGNORE);
}

int isend(const send_args& a, MPI_Request* request) noexcept {
  trace::span traced(a.call, [&] { return mpi::facts_of(a); });
  mpi::outgoing o = mpi::inspect(a);
  if (!o.on_device()) return mpi::host_isend(a, request);
  const visit v;
  int rc = MPI_SUCCESS;
  auto op = mpi::start_device_send(a, std::move(o), true, &rc);
  return op ? publish(std::move(op), request) : rc;
}

int send_init(const send_args& a, MPI_Request* request) noexcept {
  if (!mpi::inspect(a).on_device()) return mpi::host_send_init(a, request);
  return make_persistent(a, request, mpi::host_send_init);
}

// --- receive ---

int recv(const receive_args& a, MPI_Status* status) noexcept {
  trace::span traced(a.call, [&] { return mpi::facts_of(a); });
  if (a.source == MPI_PROC_NULL)
    return pmpi::Recv(nullptr, 0, MPI_BYTE, a.source, a.tag, a.comm, status);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  if (mpi::may_block() && ticket::stash::instance().empty()) {
    if (int rc; mpi::receive_plain(a, nullptr, status, &rc)) return rc;
    mpi::receive_request op(a.call);
    ticket::receive& r = op.receive();
    if (const int rc = mpi::prepare_receive(r, a)) return rc;
    if (const int rc = r.post_blocking(a.source, a.tag)) return rc;
    if (!r.settled()) ticket::receives().watch(r);
    return wait_for(e, held, op, a.call, status);
  }
  int rc = MPI_SUCCESS;
  if (MPI_Request posted = MPI_REQUEST_NULL; e.threaded() && mpi::post_plain(a, &posted, &rc))
    return rc == MPI_SUCCESS ? mpi::wait_beside(held, a.call, &posted, status) : rc;
  auto op = mpi::start_receive(a, &rc);
  return op ? wait_for(e, held, *op, a.call, status) : rc;
}

int irecv(const receive_args& a, MPI_Request* request) noexcept {
  trace::span traced(a.call, [&] { return mpi::facts_of(a); });
  if (a.source == MPI_PROC_NULL)
    return pmpi::Irecv(nullptr, 0, MPI_BYTE, a.source, a.tag, a.comm, request);
  int rc = MPI_SUCCESS;
  const visit v;
  if (mpi::post_plain(a, request, &rc)) return rc;
  auto op = mpi::start_receive(a, &rc);
  if (!op) return rc;
  *request = op->request();
  mpi::enter(std::move(op));
  return MPI_SUCCESS;
}

int recv_init(const receive_args& a, MPI_Request* request) noexcept {
  return make_persistent(a, request, mpi::host_recv_init);
}

// --- send and receive together ---

namespace {

struct pair {
  std::unique_ptr<request_object> send;
  std::unique_ptr<request_object> receive;
};

// Ends the receive beside a send that could not start, so that it takes no later message. One that
// has a message already keeps it.
void withdraw(progress_engine& e, held_lock& held, request_object& receive,
              const char* call) noexcept {
  receive.cancel();
  wait_for(e, held, receive, call, MPI_STATUS_IGNORE);
}

// A send with wrong arguments is refused before its receive could take a message.
int start_pair(progress_engine& e, held_lock& held, const send_args& s, const receive_args& r,
               pair& out) noexcept {
  int rc = mpi::check_arguments(s);
  if (rc != MPI_SUCCESS) return rc;
  out.receive = mpi::start_receive(r, &rc);
  if (!out.receive) return rc;
  out.send = mpi::start_send(s, false, &rc);
  if (!out.send) withdraw(e, held, *out.receive, s.call);
  return rc;
}

int wait_pair(progress_engine& e, held_lock& held, pair& p, const char* call,
              MPI_Status* status) noexcept {
  const int sent = wait_for(e, held, *p.send, call, MPI_STATUS_IGNORE);
  const int received = wait_for(e, held, *p.receive, call, status);
  return sent != MPI_SUCCESS ? sent : received;
}

// In host memory, both halves the host MPI's own. False: as post_plain.
bool exchange_plain(held_lock& held, const send_args& s, const receive_args& r, MPI_Status* status,
                    int* rc) noexcept {
  if (!memory::surely_host(s.buffer)) return false;
  if ((*rc = mpi::check_arguments(s)) != MPI_SUCCESS) return true;
  MPI_Request posted = MPI_REQUEST_NULL, sends = MPI_REQUEST_NULL;
  if (!mpi::post_plain(r, &posted, rc)) return false;
  if (*rc != MPI_SUCCESS) return true;
  *rc = mpi::host_isend(s, &sends);
  *rc = host_mpi::started(*rc, sends);
  if (*rc != MPI_SUCCESS) {
    pmpi::Cancel(&posted);
    mpi::wait_beside(held, s.call, &posted, MPI_STATUS_IGNORE);
    return true;
  }
  const int sent = mpi::wait_for_send(held, s.call, &sends, MPI_STATUS_IGNORE);
  const int received = mpi::wait_beside(held, s.call, &posted, status);
  *rc = sent != MPI_SUCCESS ? sent : received;
  return true;
}

int publish_pair(pair& p, MPI_Request* request) noexcept {
  if (const int rc = mpi::take_handle(request)) return rc;
  mpi::enter(
      std::make_unique<mpi::sendrecv_request>(std::move(p.send), std::move(p.receive), *request));
  return MPI_SUCCESS;
}

// The bytes to send must leave the buffer before the receive writes it.
int start_replace(progress_engine& e, held_lock& held, const replace_args& a, pair& out) noexcept {
  const send_args s{a.call, a.buffer, a.count, a.type, a.destination, a.send_tag, a.comm};
  int rc = mpi::check_arguments(s);
  if (rc != MPI_SUCCESS) return rc;
  auto copy = mpi::detach_bytes(s, &rc);
  if (!copy) return rc;
  const receive_args r{a.call, a.buffer, a.count, a.type, a.source, a.receive_tag, a.comm};
  out.receive = mpi::start_receive(r, &rc);
  if (!out.receive) return rc;
  out.send = mpi::start_detached(s, std::move(*copy), &rc);
  if (!out.send) withdraw(e, held, *out.receive, a.call);
  return rc;
}

}  // namespace

int sendrecv(const send_args& s, const receive_args& r, MPI_Status* status) noexcept {
  trace::span traced(s.call, [&] { return mpi::facts_of(s); });
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  if (mpi::may_block() && ticket::stash::instance().empty() && memory::surely_host(s.buffer))
    if (int rc; mpi::receive_plain(r, &s, status, &rc)) return rc;
  if (int rc; e.threaded() && exchange_plain(held, s, r, status, &rc)) return rc;
  pair p;
  if (const int rc = start_pair(e, held, s, r, p)) return rc;
  return wait_pair(e, held, p, s.call, status);
}

int isendrecv(const send_args& s, const receive_args& r, MPI_Request* request) noexcept {
  trace::span traced(s.call, [&] { return mpi::facts_of(s); });
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  pair p;
  if (const int rc = start_pair(e, held, s, r, p)) return rc;
  return publish_pair(p, request);
}

int sendrecv_replace(const replace_args& a, MPI_Status* status) noexcept {
  trace::span traced(a.call);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  pair p;
  if (const int rc = start_replace(e, held, a, p)) return rc;
  return wait_pair(e, held, p, a.call, status);
}

int isendrecv_replace(const replace_args& a, MPI_Request* request) noexcept {
  trace::span traced(a.call);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  pair p;
  if (const int rc = start_replace(e, held, a, p)) return rc;
  return publish_pair(p, request);
}

// --- probes ---

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) noexcept {
  trace::span traced("MPI_Probe");
  if (source == MPI_PROC_NULL) return pmpi::Probe(source, tag, comm, status);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  int flag = 0, rc = MPI_SUCCESS;
  e.wait_until(held, "MPI_Probe", [&] {
    rc = ticket::stash::instance().probe(source, tag, comm, &flag, status);
    return flag != 0 || rc != MPI_SUCCESS;
  });
  return rc;
}

int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept {
  if (source == MPI_PROC_NULL) return pmpi::Iprobe(source, tag, comm, flag, status);
  progress_engine& e = progress();
  const visit v;
  e.poll();
  return ticket::stash::instance().probe(source, tag, comm, flag, status);
}

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) noexcept {
  trace::span traced("MPI_Mprobe");
  if (source == MPI_PROC_NULL) return pmpi::Mprobe(source, tag, comm, message, status);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  int flag = 0, rc = MPI_SUCCESS;
  e.wait_until(held, "MPI_Mprobe", [&] {
    rc = ticket::stash::instance().match(source, tag, comm, &flag, message, status);
    return flag != 0 || rc != MPI_SUCCESS;
  });
  return rc;
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) noexcept {
  if (source == MPI_PROC_NULL) return pmpi::Improbe(source, tag, comm, flag, message, status);
  progress_engine& e = progress();
  const visit v;
  e.poll();
  return ticket::stash::instance().match(source, tag, comm, flag, message, status);
}

namespace {

std::unique_ptr<mpi::receive_request> start_matched(const char* call, void* buffer, MPI_Count count,
                                                    MPI_Datatype type, MPI_Message* message,
                                                    bool with_handle, int* rc) noexcept {
  auto op = std::make_unique<mpi::receive_request>(call);
  if (with_handle && (*rc = op->take_request()) != MPI_SUCCESS) return nullptr;
  ticket::stash& matched = ticket::stash::instance();
  const MPI_Comm comm = matched.comm_of(*message);
  *rc = mpi::prepare_receive(op->receive(), {call, buffer, count, type, 0, 0, comm});
  if (*rc != MPI_SUCCESS) return nullptr;
  *rc = matched.give_matched(op->receive(), message);
  return *rc == MPI_SUCCESS ? std::move(op) : nullptr;
}

}  // namespace

int mrecv(const char* call, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
          MPI_Status* status) noexcept {
  trace::span traced(call);
  if (*message == MPI_MESSAGE_NO_PROC) return pmpi::Mrecv(nullptr, 0, MPI_BYTE, message, status);
  progress_engine& e = progress();
  visit v;
  held_lock& held = v.held;
  int rc = MPI_SUCCESS;
  auto op = start_matched(call, buffer, count, type, message, false, &rc);
  if (!op) return rc;
  ticket::receives().watch(op->receive());
  return wait_for(e, held, *op, call, status);
}

int imrecv(const char* call, void* buffer, MPI_Count count, MPI_Datatype type, MPI_Message* message,
           MPI_Request* request) noexcept {
  if (*message == MPI_MESSAGE_NO_PROC) return pmpi::Imrecv(nullptr, 0, MPI_BYTE, message, request);
  const visit v;
  int rc = MPI_SUCCESS;
  auto op = start_matched(call, buffer, count, type, message, true, &rc);
  if (!op) return rc;
  ticket::receives().watch(op->receive());
  return publish(std::move(op), request);
}

}  // namespace telpher::pt2pt
