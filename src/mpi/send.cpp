// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/send.hpp"

#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "host_mpi/asserted.hpp"
#include "host_mpi/revoked.hpp"
#include "memory/chunk_runs.hpp"
#include "mpi/entry.hpp"
#include "mpi/handles.hpp"
#include "mpi/unpacked_send.hpp"
#include "path/compression.hpp"
#include "stream/settle.hpp"
#include "ticket/sends.hpp"
#include "ticket/stash.hpp"

namespace telpher::mpi {

using pt2pt::send_args;
using pt2pt::send_mode;

namespace {

const datatype::layout* layout_of(MPI_Datatype type) noexcept {
  const auto l = datatype::layout_of(type);
  return l ? *l : nullptr;
}

// Without the progress lock: the event may stand behind a message that another thread moves.
status wait_for(const memory::pooled_event& e) noexcept {
  status s = e ? e.query() : status::ok;
  if (s == status::would_block)
    ticket::progress().wait_until(*ticket::held_lock::innermost(), "a send's stream",
                                  [&] { return (s = e.query()) != status::would_block; });
  return s;
}

// Memory that other processes cannot open (stream-ordered pools, mapped memory that was not made
// for it) is copied to memory of ours that they can: one copy inside the
// device instead of two through the host, when the work before has ended. not_supported,
// out_of_memory: it stays as it is.
status bounce(ticket::message& m, stream::work_before& before) noexcept {
  auto copy = memory::buffer::device(m.payload.where, m.payload.bytes);
  TELPHER_TRY(copy);
  auto info = memory::describe(m.payload.where, copy->data());
  TELPHER_TRY(info);
  if (!info->exportable) return status::not_supported;  // no memory of this device can be
  const path::region from = m.payload;
  status copied = before.append(from.where, [&](device::stream s) {
    return from.where.owner->copy(copy->data(), from.data, from.bytes, s);
  });
  if (copied == status::not_supported) {
    TELPHER_TRY(wait_for(before.event));
    before.event = {};
    copied = memory::copy_and_wait(from.where, copy->data(), from.data, from.bytes);
  }
  TELPHER_TRY(copied);
  static bool told = false;
  if (!std::exchange(told, true))
    TELPHER_INFO(
        "memory at %p cannot be opened by other processes (stream-ordered pool, VMM): "
        "messages from it are copied on the device first",
        static_cast<void*>(m.payload.data));
  m.payload.data = static_cast<std::byte*>(copy->data());
  m.info = *info;
  m.packed = std::move(*copy);
  return status::ok;
}

// Waits for the payload.
status complete(ticket::message& m) noexcept {
  status s = wait_for(m.ready);
  if (s == status::ok && m.in_place) {
    s = pack_after_all(m);
    if (const status packed = wait_for(m.ready); s == status::ok) s = packed;
  }
  m.ready = {};
  m.packs = {};
  return s;
}

// Packing takes some microseconds, unless the device is busy. A payload that is complete when the
// call returns is ready at once: its receiver then needs no further call of this rank, which may
// compute for long. But in a burst of sends (the faces of a block) the kernels run behind each
// other while the calls go on: a send that follows closely on another does not wait. An error stays
// with the event, for those who wait for it later.
void wait_a_little(ticket::message& m) noexcept {
  constexpr double patience_us = 50;
  thread_local std::uint64_t last_ns = 0;
  const std::uint64_t begin_ns = now_ns();
  const bool follows = us_since(std::exchange(last_ns, begin_ns)) < patience_us;
  status s = m.ready.query();
  if (follows && s == status::would_block) return;
  while (s == status::would_block && us_since(begin_ns) < patience_us) {
    std::this_thread::yield();
    s = m.ready.query();
  }
  if (s != status::ok) return;
  m.ready = {};
  m.packs = {};
}

void address(const send_args& a, const datatype::layout& l, ticket::message& m) noexcept {
  m.destination = a.destination;
  m.tag = a.tag;
  m.comm = a.comm;
  m.element_bytes = a.type == MPI_PACKED ? 0 : l.size;  // its receiver may name any types
  m.synchronous = a.mode == send_mode::synchronous;
}

// Packs what has gaps, behind the work before. Making our stream has loaded the kernels.
status pack(const send_args& a, const datatype::layout& l, const memory::place& where,
            memory::buffer& to, stream::work_before& before,
            memory::pooled_event& packed) noexcept {
  const auto own = memory::stream(where, memory::stream_role::kernel);
  TELPHER_TRY(own);
  const auto give = [&](device::stream s) {
    return datatype::pack(*where.owner, l, a.buffer, a.count, to.data(), s);
  };
  if (const status s = before.append(where, give); s != status::not_supported) {
    packed = std::move(before.event);
    return s;
  }
  TELPHER_TRY(wait_for(before.event));
  auto packing = memory::pooled_event::acquire(where);
  TELPHER_TRY(packing);
  TELPHER_TRY(give(*own));
  const status recorded = packing->record(*own);
  if (failed(recorded)) memory::wait_for(where, memory::stream_role::kernel);
  packed = std::move(*packing);
  return recorded;
}

// The bytes of a device message: the buffer itself, a packed copy on the device, or what stays in
// the buffer, with its gaps, until it is sent (unpacked_send.hpp).
status gather(const send_args& a, outgoing&& o, ticket::message& m) noexcept {
  const datatype::layout* l = o.layout;
  if (!datatype::is_committed(*l, a.type, ticket::job().control)) return status::invalid_argument;
  stream::work_before before(a.ordered_by == MPI_COMM_NULL ? a.comm : a.ordered_by);
  if (o.mixed) return static_cast<void>(wait_for(before.event)), status::not_supported;
  m.cached = std::move(o.cached);
  address(a, *l, m);
  const auto bytes = static_cast<std::size_t>(a.count) * l->size;
  auto* data = const_cast<std::byte*>(static_cast<const std::byte*>(a.buffer));
  const memory::place where = o.where;
  if (l->one_run(a.count)) {
    m.payload = {where, data + l->true_lower_bound, bytes};
    m.info = memory::holding(where, o.info, m.payload.data, bytes);
    m.coding = path::plan_for(a.comm, a.type, bytes);
    const bool whole = inside(m.payload, m.info);
    // Bytes that are mapped all the same, in chunks that are no run or in memory that is little
    // known.
    const bool apart = !whole && (m.info.is_chunk || !m.info.exportable);
    if (apart || (!m.info.exportable && bytes >= config().bounce_threshold)) {
      const status s = bounce(m, before);
      if (s == status::ok) return m.ready = std::move(before.event), s;
      const bool stays = s == status::not_supported || s == status::out_of_memory;
      if (!whole || !stays) return static_cast<void>(wait_for(before.event)), s;  // else staged
    }
    m.ready = std::move(before.event);
    if (whole) return status::ok;
    TELPHER_ERROR("%s: %zu bytes at %p reach beyond their allocation, %zu bytes from %p on", a.call,
                  bytes, static_cast<void*>(m.payload.data), m.info.bytes,
                  reinterpret_cast<void*>(m.info.base));
    return status::invalid_argument;
  }
  m.payload = {where, data + l->blocks.front().offset, bytes};
  m.info = o.info;
  if (leave_unpacked(a, *l, m)) return m.ready = std::move(before.event), status::ok;
  auto packed = memory::buffer::device(where, bytes);
  TELPHER_TRY(packed);
  const bool alone = !before.event;
  TELPHER_TRY(pack(a, *l, where, *packed, before, m.ready));
  m.packs = datatype::hold(l);
  m.packed = std::move(*packed);
  m.payload = {where, static_cast<std::byte*>(m.packed.data()), bytes};
  auto info = memory::describe(where, m.packed.data());
  if (!info) {
    static_cast<void>(complete(m));  // its memory is given back
    return info.error();
  }
  m.info = *info;
  if (alone) wait_a_little(m);
  return status::ok;
}

// --- the choice ---

// The kernel that stays is everybody's. A copy of the driver, which may be long, keeps nobody out.
status start_eager(const path::record& by, path::send_end& e) noexcept {
  if (by.send_by_kernel) {
    const auto held = ticket::progress().lock();
    if (const status s = by.send_by_kernel(e); s != status::not_supported) return s;
  }
  return by.start_send(e);
}

std::unique_ptr<request_object> send_eager(const char* call, send_mode mode, ticket::message& m,
                                           const path::record& by, path::send_end& e,
                                           int* rc) noexcept {
  status s = complete(m);
  if (s == status::ok) s = start_eager(by, e);
  if (s != status::ok) {
    *rc = entry::fail(m.comm, call, s, "copying the send buffer to the host");
    return nullptr;
  }
  MPI_Request native = MPI_REQUEST_NULL;
  const send_args host{call,     e.bytes,       static_cast<MPI_Count>(m.payload.bytes),
                       MPI_BYTE, m.destination, m.tag,
                       m.comm,   mode};
  *rc = host_isend(host, &native);
  if (*rc != MPI_SUCCESS) return nullptr;
  return std::make_unique<native_send>(native, std::move(e.keep));
}

std::unique_ptr<request_object> send_device(const char* call, send_mode mode, ticket::message&& m,
                                            bool for_program, int* rc) noexcept {
  const int peer = host_mpi::world_rank(ticket::job(), m.comm, m.destination);
  path::send_end end = end_of(m, mode, peer);
  if (const path::record* by = m.in_place ? nullptr : path::choose_eager(end))
    return send_eager(call, mode, m, *by, end, rc);
  const MPI_Comm comm = m.comm;
  taken_handle handle;  // before the message leaves: nothing takes it back
  if (for_program && (*rc = handle.take()) != MPI_SUCCESS) return nullptr;
  auto o = std::make_unique<ticket::send>(std::move(m), peer, ticket::sends());
  status s = o->announce();
  if (s == status::would_block || s == status::not_supported) {
    m = o->take_back();
    if (m.in_place && failed(s = complete(m))) {
      *rc = entry::fail(comm, call, s, "packing the send buffer");
      return nullptr;
    }
    end = end_of(m, mode, peer);
    end.may_announce = false;
    return send_eager(call, mode, m, *path::choose_eager(end), end, rc);
  }
  if (s != status::ok) {
    *rc = s == status::host_mpi_error  // which has raised it
              ? o->host_error()
              : entry::fail(comm, call, s, "sending the ticket of a device message");
    return nullptr;
  }
  auto op = std::make_unique<ticket_send>(*o, handle.keep(), call, comm);
  ticket::sends().add(std::move(o));
  return op;
}

}  // namespace

outgoing inspect(const send_args& a) noexcept {
  outgoing o;
  if (a.destination == MPI_PROC_NULL || a.count <= 0) return o;
  if (memory::surely_host(a.buffer) || host_mpi::asserts_host(a.comm)) return o;
  o.layout = layout_of(a.type);
  if (!o.layout || o.layout->blocks.empty()) return o;  // PMPI says what is wrong with the type
  const auto* first = static_cast<const std::byte*>(a.buffer) + o.layout->blocks.front().offset;
  o.where = memory::classify(first, o.info, o.cached);
  o.mixed = a.buffer == MPI_BOTTOM && datatype::mixes_places(*o.layout, a.buffer);
  return o;
}

std::unique_ptr<request_object> start_device_send(const send_args& a, outgoing&& o,
                                                  bool for_program, int* rc) noexcept {
  ticket::message m;
  if ((*rc = entry::refuse_if_short(a.comm, a.call)) != MPI_SUCCESS) return nullptr;
  if ((*rc = host_mpi::refuse_if_revoked(a.comm)) != MPI_SUCCESS) return nullptr;
  const bool may_wait = o.may_wait;
  status s = gather(a, std::move(o), m);
  // A call that waits for the message in the end may as well wait for its packing: what is small
  // takes the shorter way then.
  if (s == status::ok && may_wait && !m.in_place && path::eager_size(m.payload.bytes))
    s = complete(m);
  if (s != status::ok) {
    *rc = entry::refuse_buffer(a.comm, a.call, s, a.count, a.type);
    return nullptr;
  }
  return send_device(a.call, a.mode, std::move(m), for_program, rc);
}

std::unique_ptr<request_object> start_send(const send_args& a, bool for_program, int* rc) noexcept {
  outgoing o = inspect(a);
  if (!o.on_device()) {
    MPI_Request native = MPI_REQUEST_NULL;
    *rc = host_isend(a, &native);
    if (*rc != MPI_SUCCESS) return nullptr;
    return std::make_unique<native_send>(native, memory::buffer());
  }
  return start_device_send(a, std::move(o), for_program, rc);
}

// A count of 0, which the host MPI takes with any type, is received as no bytes.
int prepare_receive(ticket::receive& r, const pt2pt::receive_args& a) noexcept {
  if (const int rc = entry::refuse_if_short(a.comm, a.call)) return rc;
  status s = r.prepare(a.buffer, a.count, a.type, a.comm);
  if (s == status::ok) return MPI_SUCCESS;
  if (a.count == 0 && s == status::invalid_argument) {
    if (const int rc = entry::host_refuses(a.comm, 0, a.type)) return rc;
    if ((s = r.prepare(a.buffer, 0, MPI_BYTE, a.comm)) == status::ok) return MPI_SUCCESS;
  }
  return entry::refuse_buffer(a.comm, a.call, s, a.count, a.type);
}

std::unique_ptr<receive_request> start_receive(const pt2pt::receive_args& a, int* rc) noexcept {
  auto op = std::make_unique<receive_request>(a.call);
  ticket::receive& r = op->receive();
  // MPI does not look at the buffer of a receive from nobody, which may be no memory at all.
  *rc = a.source == MPI_PROC_NULL ? prepare_receive(r, {a.call, nullptr, 0, MPI_BYTE, 0, 0, a.comm})
                                  : prepare_receive(r, a);
  if (*rc != MPI_SUCCESS) return nullptr;
  if ((*rc = op->take_request()) != MPI_SUCCESS) return nullptr;
  ticket::stash& kept = ticket::stash::instance();
  if (kept.empty() || !kept.give(r, a.source, a.tag, a.comm, rc)) [[likely]]
    *rc = r.post(a.source, a.tag);
  if (*rc != MPI_SUCCESS) return nullptr;
  ticket::receives().watch(r);
  return op;
}

// --- replace ---

std::optional<detached_bytes> detach_bytes(const send_args& a, int* rc) noexcept {
  const datatype::layout* l = layout_of(a.type);
  auto copy = [&]() -> result<detached_bytes> {
    if (a.count < 0 || (!l && a.count > 0)) return status::invalid_argument;
    const std::size_t bytes = l ? static_cast<std::size_t>(a.count) * l->size : 0;
    outgoing o = inspect(a);
    if (!o.on_device()) {
      auto b = memory::buffer::host(std::max<std::size_t>(bytes, 1), nullptr);
      TELPHER_TRY(b);
      if (bytes > 0 && a.destination != MPI_PROC_NULL)
        datatype::pack_host(*l, a.buffer, 0, bytes, b->data());
      return detached_bytes{{{}, static_cast<std::byte*>(b->data()), bytes}, std::move(*b)};
    }
    ticket::message m;
    TELPHER_TRY(gather(a, std::move(o), m));
    TELPHER_TRY(complete(m));
    if (m.packed) return detached_bytes{m.payload, std::move(m.packed)};
    auto b = memory::buffer::device(m.payload.where, bytes);
    TELPHER_TRY(b);
    TELPHER_TRY(memory::copy_and_wait(m.payload.where, b->data(), m.payload.data, bytes));
    return detached_bytes{{m.payload.where, static_cast<std::byte*>(b->data()), bytes},
                          std::move(*b)};
  }();
  if (copy) return std::move(*copy);
  *rc = entry::refuse_buffer(a.comm, a.call, copy.error(), a.count, a.type);
  return std::nullopt;
}

std::unique_ptr<request_object> start_detached(const send_args& a, detached_bytes&& bytes,
                                               int* rc) noexcept {
  if (bytes.payload.where.on_device()) {
    auto info = memory::describe(bytes.payload.where, bytes.payload.data);
    if (!info) {
      *rc = entry::fail(a.comm, a.call, info.error(), "the copy of the buffer that is replaced");
      return nullptr;
    }
    const datatype::layout* l = layout_of(a.type);
    ticket::message m;
    m.payload = bytes.payload;
    m.info = *info;
    m.packed = std::move(bytes.keep);
    m.destination = a.destination;
    m.tag = a.tag;
    m.comm = a.comm;
    m.element_bytes = l ? l->size : 0;
    return send_device(a.call, send_mode::standard, std::move(m), false, rc);
  }
  MPI_Request native = MPI_REQUEST_NULL;
  const send_args host{a.call,   bytes.payload.data, static_cast<MPI_Count>(bytes.payload.bytes),
                       MPI_BYTE, a.destination,      a.tag,
                       a.comm};
  *rc = host_isend(host, &native);
  if (*rc != MPI_SUCCESS) return nullptr;
  return std::make_unique<native_send>(native, std::move(bytes.keep));
}

// --- arguments ---

// Only arguments that look wrong are shown to the host MPI: a persistent request of them, not
// started, touches no memory.
int check_arguments(const send_args& a) noexcept {
  const host_mpi::job& job = ticket::job();
  const datatype::layout* l = a.type != MPI_DATATYPE_NULL ? layout_of(a.type) : nullptr;
  const bool buffer =
      l && (a.count > 0 || (a.count == 0 && datatype::is_committed(*l, a.type, job.control)));
  const bool envelope = a.comm != MPI_COMM_NULL && a.tag >= 0 && a.tag <= job.tag_limit;
  if (buffer && envelope &&
      (a.destination == MPI_PROC_NULL || host_mpi::world_rank(job, a.comm, a.destination) >= 0))
    return MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  int rc = host_send_init(a, &request);
  rc = host_mpi::started(rc, request);
  if (rc == MPI_SUCCESS) pmpi::Request_free(&request);
  return rc;
}

}  // namespace telpher::mpi
