// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/inbox_messages.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/pause.hpp"
#include "base/settings.hpp"
#include "device/adopted_stream.hpp"
#include "mpi/enqueued.hpp"
#include "mpi/entry.hpp"
#include "mpi/inbox_operations.hpp"
#include "mpi/inbox_requests.hpp"
#include "mpi/request_kinds.hpp"
#include "mpi/send.hpp"
#include "mpi/stream_messages.hpp"

namespace telpher::mpi {

using pt2pt::receive_args;
using pt2pt::send_args;

namespace {

// --- what may go that way ---

bool may_go() noexcept {
  return config().stream_inbox_limit > 0 && entry::active() && ticket::progress().threaded() &&
         !stream::in_proxy() && path::forced() == path::kind::none && !matching_turn::any() &&
         !stream::any_graphs();
}

bool takes_launches(device::adopted_stream& s) noexcept {
  return s.owner() && s.get() && s.owner()->streams_wait(s.device()) && !s.is_captured();
}

/// Its rank in the job, if it is another process of this node; else -1.
int near_rank(MPI_Comm comm, int rank) noexcept {
  if (comm == MPI_COMM_NULL || rank < 0) return -1;
  const int world = host_mpi::world_rank(ticket::job(), comm, rank);
  return world >= 0 && world != ticket::job().rank && ticket::peers().near(world) ? world : -1;
}

/// The bytes, if they are one run of device memory that a kernel in the stream may use.
std::optional<path::region> run_in(const send_args& a, const outgoing& o,
                                   device::adopted_stream& s) noexcept {
  if (!o.on_device() || o.mixed || !o.layout->one_run(a.count) ||
      !(o.where == memory::place{s.owner(), s.device()}))
    return std::nullopt;
  auto* const first = static_cast<std::byte*>(const_cast<void*>(a.buffer));
  const path::region run{o.where, first + o.layout->true_lower_bound,
                         static_cast<std::size_t>(a.count) * o.layout->size};
  const bool fits = run.bytes > 0 && run.bytes <= config().stream_inbox_limit &&
                    inside(run, o.info) &&
                    (run.bytes >= ticket::ticket_bytes || ticket::peers().small_tickets()) &&
                    datatype::is_committed(*o.layout, a.type, ticket::job().control);
  return fits ? std::optional(run) : std::nullopt;
}

/// A copy of ours that the stream fills, for a message without a cell.
status take_copy(ticket::message& m) noexcept {
  auto copy = memory::buffer::device(m.payload.where, m.payload.bytes);
  TELPHER_TRY(copy);
  auto info = memory::describe(m.payload.where, copy->data());
  TELPHER_TRY(info);
  m.payload.data = static_cast<std::byte*>(copy->data());
  m.info = *info;
  m.packed = std::move(*copy);
  return status::ok;
}

/// Where the bytes wait for the receiver: cells of its inbox, else a copy. would_block: the caller
/// is `patient`, and there will be room.
status take_place(ticket::message& m, int peer, bool patient) noexcept {
  ticket::peer_table& peers = ticket::peers();
  const auto cells =
      path::take_cells(peers.segment_of(peer), peer, peers.place_on_node(ticket::job().rank),
                       m.payload.where, m.payload.bytes);
  if (cells) return m.cells = *cells, status::ok;
  if (cells.error() == status::would_block) {
    if (patient) return status::would_block;
    path::note_no_room(peer);
  }
  return take_copy(m);
}

/// Under the progress lock. not_supported: it does not go that way. would_block: see take_place.
/// `read`: see inbox_send.
result<std::unique_ptr<inbox_send>> begin_send(const send_args& a, device::adopted_stream& s,
                                               const std::shared_ptr<ending>& read,
                                               bool patient) noexcept {
  const outgoing o = inspect(a);
  const int peer = near_rank(a.comm, a.destination);
  if (peer < 0 || a.tag < 0 || a.tag > ticket::job().tag_limit) return status::not_supported;
  const auto run = run_in(a, o, s);
  if (!run) return status::not_supported;
  ticket::message m;
  m.payload = *run;
  m.destination = a.destination;
  m.tag = a.tag;
  m.comm = a.comm;
  m.element_bytes = a.type == MPI_PACKED ? 0 : o.layout->size;
  if (const status placed = take_place(m, peer, patient); failed(placed))
    return placed == status::would_block ? placed : status::not_supported;
  auto op = std::make_unique<inbox_send>(*run, read);
  if (!op->has_words()) {
    if (m.cells) path::give_cells(peer, *m.cells);
    return status::not_supported;
  }
  if (!op->announce(std::move(m), peer)) return status::not_supported;
  return op;
}

/// A program that is far ahead of its streams waits here for room, as it would for room in a
/// stream. Room may depend on what this thread does next, so it does not wait for long: then the
/// stream makes a copy, and no other call waits until cells have come free.
class patience {
 public:
  bool lasts() const noexcept { return us_since(since_) < most_us; }
  void pause() noexcept { telpher::pause(looks_++); }

 private:
  static constexpr double most_us = 5000;
  std::uint64_t since_ = now_ns();
  long looks_ = 0;
};

/// A receive, which `by` waits for. Null: it does not go that way. `rc` is an error that MPI has
/// raised, or MPI_SUCCESS.
std::shared_ptr<taking> begin_receive(const receive_args& a, device::adopted_stream& s,
                                      void* native, taking::waiter by, MPI_Status* status,
                                      std::unique_ptr<inbox_receive>& op, int* rc) noexcept {
  const send_args as_sent{a.call, a.buffer, a.count, a.type, a.source, a.tag, a.comm};
  const outgoing o = inspect(as_sent);
  const int peer = near_rank(a.comm, a.source);
  if (peer < 0) return nullptr;
  const auto run = run_in(as_sent, o, s);
  if (!run) return nullptr;
  ticket::peer_table& peers = ticket::peers();
  const path::inbox* const from =
      path::inbox_for(peers.own(), peers.place_on_node(peer), run->where, peers.job().node.size());
  if (!from) return nullptr;
  auto t = std::make_shared<taking>(run->where, native);
  t->by.store(by, std::memory_order_relaxed);
  t->out = status;
  op = std::make_unique<inbox_receive>(a.call, t);
  return op->post(a, *from, run->data, run->bytes, rc) ? t : nullptr;
}

}  // namespace

std::optional<int> send_through_inbox(const send_args& a, MPI_Request* request,
                                      void* native) noexcept {
  if (!may_go() || memory::surely_host(a.buffer)) return std::nullopt;
  device::adopted_stream s(native);
  if (!takes_launches(s)) return std::nullopt;
  const std::shared_ptr<ending> read = request ? make_ending() : nullptr;
  std::unique_ptr<inbox_send> op;
  int rc = MPI_SUCCESS;
  for (patience room; !op; room.pause()) {
    const ticket::visit v;
    auto begun = begin_send(a, s, read, room.lasts());
    if (begun.error() == status::would_block) continue;
    if (failed(std::move(begun).into(op))) return std::nullopt;
    if (request) rc = give_request<inbox_request>(request, read, native, s.device());
    if (rc != MPI_SUCCESS) return op->abandon(), rc;
  }
  rc = report(a.call, a.comm, native,
              stream::launch(s, native, std::make_unique<inbox_calls>(std::move(op)), false));
  if (rc != MPI_SUCCESS && request) drop_request(request);
  return rc;
}

std::optional<int> receive_through_inbox(const receive_args& a, MPI_Status* status,
                                         MPI_Request* request, void* native) noexcept {
  if (!may_go() || memory::surely_host(a.buffer)) return std::nullopt;
  device::adopted_stream s(native);
  if (!takes_launches(s)) return std::nullopt;
  const auto by = request ? taking::waiter::nobody : taking::waiter::own_stream;
  std::unique_ptr<inbox_receive> op;
  int rc = MPI_SUCCESS;
  {
    const ticket::visit v;
    const auto t = begin_receive(a, s, native, by, status, op, &rc);
    if (rc != MPI_SUCCESS) return rc;
    if (!t) return std::nullopt;
    if (request) rc = give_request<inbox_request>(request, t);
    if (rc != MPI_SUCCESS) return op->abandon(), rc;
  }
  rc = report(a.call, a.comm, native,
              stream::launch(s, native, std::make_unique<inbox_calls>(std::move(op)), !request));
  if (rc != MPI_SUCCESS && request) drop_request(request);
  return rc;
}

// The receive is posted first, and its kernel goes last: the other rank may need what is sent here.
std::optional<int> sendrecv_through_inbox(const send_args& s, const receive_args& r,
                                          MPI_Status* status, void* native) noexcept {
  if (s.destination == MPI_PROC_NULL) return receive_through_inbox(r, status, nullptr, native);
  if (!may_go() || memory::surely_host(r.buffer)) return std::nullopt;
  device::adopted_stream of(native);
  if (!takes_launches(of)) return std::nullopt;
  std::unique_ptr<inbox_receive> receive;
  int rc = MPI_SUCCESS;
  {
    const ticket::visit v;
    if (near_rank(s.comm, s.destination) < 0 || check_arguments(s) != MPI_SUCCESS ||
        !begin_receive(r, of, native, taking::waiter::own_stream, status, receive, &rc))
      receive = nullptr;
  }
  if (rc != MPI_SUCCESS) return rc;
  if (!receive) return std::nullopt;
  rc = enqueue_send(s, native);
  auto waits = std::make_unique<inbox_calls>(std::move(receive));
  const int received =
      report(r.call, r.comm, native, stream::launch(of, native, std::move(waits), true));
  return rc != MPI_SUCCESS ? rc : received;
}

// --- persistent requests ---

namespace {

/// Adds one to what the stream begins. not_supported, would_block: it was not started, see
/// begin_send. Under the progress lock.
status begin_persistent(const char* call, persistent_request& r, device::adopted_stream& s,
                        void* native, bool patient, inbox_calls& all, int* rc) noexcept {
  if (r.active()) return status::not_supported;
  std::unique_ptr<request_object> started;
  if (const send_args* const sends = r.sends()) {
    send_args a = *sends;
    a.call = call;
    const std::shared_ptr<ending> read = make_ending();
    auto op = begin_send(a, s, read, patient);
    TELPHER_TRY(op);
    all.add(std::move(*op));
    started = std::make_unique<inbox_request>(read, native, s.device(), MPI_REQUEST_NULL);
  } else {
    receive_args a = *r.receives();
    a.call = call;
    std::unique_ptr<inbox_receive> op;
    const auto t = begin_receive(a, s, native, taking::waiter::nobody, MPI_STATUS_IGNORE, op, rc);
    if (!t) return status::not_supported;
    all.add(std::move(op));
    started = std::make_unique<inbox_request>(t, MPI_REQUEST_NULL);
  }
  r.begin_in_stream(std::move(started));
  return status::ok;
}

/// As many as one launch holds, from requests[first] on. The status is of the first one that was
/// not begun.
status begin_some(const char* call, const std::vector<MPI_Request>& requests, std::size_t& first,
                  device::adopted_stream& s, void* native, bool patient, inbox_calls& all,
                  int* rc) noexcept {
  const ticket::visit v;
  for (; first < requests.size() && !all.full(); ++first) {
    request_object* const op = find(requests[first]);
    persistent_request* const r = op ? op->persistent_message() : nullptr;
    if (!r || memory::surely_host(r->buffer())) return status::not_supported;
    TELPHER_TRY(begin_persistent(call, *r, s, native, patient, all, rc));
  }
  return status::ok;
}

}  // namespace

int start_through_inbox(const char* call, std::vector<MPI_Request>& requests,
                        void* native) noexcept {
  if (!may_go()) return MPI_SUCCESS;
  device::adopted_stream s(native);
  if (!takes_launches(s)) return MPI_SUCCESS;
  std::size_t started = 0;
  int rc = MPI_SUCCESS;
  // Requests that have begun are launched before this waits for room, which may depend on them.
  for (patience room; started < requests.size() && rc == MPI_SUCCESS;) {
    auto some = std::make_unique<inbox_calls>();
    const std::size_t first = started;
    const status begun = begin_some(call, requests, started, s, native, room.lasts(), *some, &rc);
    if (some->empty()) {
      if (begun != status::would_block) break;
      room.pause();
      continue;
    }
    const int launched =
        report(call, MPI_COMM_SELF, native, stream::launch(s, native, std::move(some), false));
    if (launched == MPI_SUCCESS) continue;
    const ticket::visit v;
    for (std::size_t i = first; i < started; ++i)
      find(requests[i])->persistent_message()->end_in_stream();
    rc = launched;
  }
  requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(started));
  return rc;
}

}  // namespace telpher::mpi
