// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/plain_receive.hpp"

#include <climits>
#include <cstring>

#include "host_mpi/received.hpp"
#include "mpi/entry.hpp"
#include "mpi/request_kinds.hpp"

namespace telpher::mpi {
namespace {

using pt2pt::receive_args;
using pt2pt::send_args;
using ticket::ticket_bytes;

// The host MPI brought no plain message for this buffer: a ticket, or a message longer than it.
[[gnu::cold, gnu::noinline]] int receive_slow(const receive_args& a, const std::byte* bytes,
                                              std::size_t count, const MPI_Status& envelope,
                                              MPI_Status* status) noexcept {
  ticket::progress_engine& e = ticket::progress();
  auto held = e.lock();
  receive_request op(a.call);
  ticket::receive& r = op.receive();
  if (const int rc = prepare_receive(r, a)) return rc;
  r.take(bytes, count, envelope);
  ticket::receives().watch(r);
  e.wait_until(held, a.call, [&] { return op.conclude(); });
  return op.finish(status);
}

bool is_ticket(const std::byte* bytes, std::size_t count) noexcept {
  return ticket::may_be_ticket(count) && ticket::is_ticket(bytes, ticket::job().nonce);
}

// The host MPI's own call. It may block there: nothing of ours is under way.
int host_receive(const receive_args& a, const send_args* beside, void* to, int count,
                 MPI_Datatype type, MPI_Status* status) noexcept {
  if (!beside) return pmpi::Recv(to, count, type, a.source, a.tag, a.comm, status);
  return pmpi::Sendrecv(beside->buffer, static_cast<int>(beside->count), beside->type,
                        beside->destination, beside->tag, to, count, type, a.source, a.tag, a.comm,
                        status);
}

// A ticket may come for any message, so there must be room for one.
int receive_small(const receive_args& a, const send_args* beside, std::byte* to,
                  std::size_t capacity, MPI_Status* status) noexcept {
  alignas(16) std::byte landing[ticket_bytes];
  MPI_Status s{};
  if (const int rc = host_receive(a, beside, landing, ticket_bytes, MPI_BYTE, &s)) return rc;
  const std::size_t count = host_mpi::bytes_of(s);
  if (count > capacity || is_ticket(landing, count)) [[unlikely]]
    return receive_slow(a, landing, count, s, status);
  std::memcpy(to, landing, count);
  host_mpi::copy_status(status, s);
  return MPI_SUCCESS;
}

// A ticket overwrites the beginning of the buffer, of which its payload may need less.
int receive_large(const receive_args& a, const send_args* beside, std::byte* to,
                  MPI_Status* status) noexcept {
  alignas(16) std::byte before[ticket_bytes];
  const bool small_tickets = ticket::peers().small_tickets();
  if (small_tickets) std::memcpy(before, to, ticket_bytes);
  MPI_Status s;
  const int count = static_cast<int>(a.count);
  if (const int rc = host_receive(a, beside, a.buffer, count, a.type, &s)) return rc;
  const std::size_t bytes = host_mpi::bytes_of(s);
  if (is_ticket(to, bytes)) [[unlikely]] {
    alignas(16) std::byte ticket[ticket_bytes];
    std::memcpy(ticket, to, ticket_bytes);
    if (small_tickets) std::memcpy(to, before, ticket_bytes);
    return receive_slow(a, ticket, bytes, s, status);
  }
  host_mpi::copy_status(status, s);
  return MPI_SUCCESS;
}

// Whether a receive may be plain, and where it writes.
bool may_be_plain(const receive_args& a, ticket::written_ranges::range& r) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  if (trace::on() || a.count < 0) return false;
  if (stays_plain(a.buffer, a.count, a.type, a.tag)) {
    r = plain.range_of(a.buffer, a.count);
    return true;
  }
  if (a.count > INT_MAX || !memory::surely_host(a.buffer)) return false;
  if (!ticket::stash::instance().empty() || host_mpi::memory_is_short()) return false;
  const auto layout = datatype::layout_of(a.type);
  if (!layout) return false;
  if ((*layout)->predefined && (*layout)->contiguous && (*layout)->true_lower_bound == 0)
    plain.tell(a.type, (*layout)->size);
  if (a.count > 0) r = ticket::range_of(a.buffer, a.count, **layout);
  return !ticket::receives().written().exposed(r) && plain.may_begin(a.tag);
}

}  // namespace

bool post_plain(const receive_args& a, MPI_Request* request, int* rc) noexcept {
  ticket::written_ranges::range r;
  if (!may_be_plain(a, r)) return false;
  *rc = pmpi::Irecv(a.buffer, static_cast<int>(a.count), a.type, a.source, a.tag, a.comm, request);
  *rc = host_mpi::started(*rc, *request);
  if (*rc == MPI_SUCCESS) ticket::plain().enter(*request, a.tag, r);
  return true;
}

bool start_plain(const receive_args& a, MPI_Request native, int* rc) noexcept {
  ticket::written_ranges::range r;
  if (!may_be_plain(a, r)) return false;
  *rc = pmpi::Start(&native);
  if (*rc == MPI_SUCCESS) ticket::plain().enter(native, a.tag, r);
  return true;
}

bool receive_plain(const receive_args& a, const send_args* beside, MPI_Status* status,
                   int* rc) noexcept {
  if (beside && (beside->count < 0 || beside->count > INT_MAX)) return false;
  if (trace::on() || a.count <= 0 || a.count > INT_MAX || !memory::surely_host(a.buffer))
    return false;
  if (ticket::plain().may_begin(a.tag)) {
    const plain_wait waits;
    *rc = host_receive(a, beside, a.buffer, static_cast<int>(a.count), a.type, status);
    return true;
  }
  const auto layout = datatype::layout_of(a.type);
  if (!layout || !(*layout)->one_run(a.count)) return false;
  if (!datatype::is_committed(**layout, a.type, ticket::job().control)) return false;
  const std::size_t capacity = static_cast<std::size_t>(a.count) * (*layout)->size;
  if (capacity >= ticket_bytes && ticket::splits_elements(**layout)) return false;
  std::byte* const to = static_cast<std::byte*>(a.buffer) + (*layout)->true_lower_bound;
  *rc = capacity >= ticket_bytes ? receive_large(a, beside, to, status)
                                 : receive_small(a, beside, to, capacity, status);
  return true;
}

}  // namespace telpher::mpi
