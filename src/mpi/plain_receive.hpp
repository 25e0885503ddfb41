// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program that keeps to host memory. They cost little more than the host MPI's own:
// they are its own while no ticket can come for them (ticket/plain_receives.hpp). A blocking one
// that a ticket may meet needs no record while nothing else is under way. The code for the most
// frequent calls is in line here, for the wrappers.
#pragma once

#include "base/short_way.hpp"
#include "host_mpi/reserve.hpp"
#include "memory/surely_host.hpp"
#include "mpi/pt2pt.hpp"
#include "ticket/plain_receives.hpp"
#include "ticket/stash.hpp"

namespace telpher::mpi {

// --- fast path ---

/// Whether nothing of ours is under way and no other thread may begin something: a call may block
/// in the host MPI.
inline bool may_block() noexcept {
  const ticket::progress_engine& e = ticket::progress();
  return !e.threaded() && e.idle();
}

inline bool fits(MPI_Count count) noexcept {
  return count == static_cast<int>(count);
}

/// Whether a receive is plain for sure: one with this tag has begun plain before, and nothing has
/// changed since that forbids it. With several threads nothing is sure without the progress lock.
[[gnu::always_inline]] inline bool stays_plain(const void* buffer, MPI_Count count,
                                               int tag) noexcept {
  return ticket::plain().has_begun(tag) && fits(count) && ticket::stash::instance().empty() &&
         memory::known_host(buffer);
}
/// The same for one that does not block: then it writes to plain().range_of().
[[gnu::always_inline]] inline bool stays_plain(const void* buffer, MPI_Count count,
                                               MPI_Datatype type, int tag) noexcept {
  return ticket::plain().knows(type) && stays_plain(buffer, count, tag) &&
         !ticket::receives().written().any_exposed() && !host_mpi::memory_is_short();
}

/// Whether MPI_Irecv may be the host MPI's own: then post_at_once() is.
[[gnu::always_inline]] inline bool posts_plain(const void* buffer, MPI_Count count,
                                               MPI_Datatype type, int tag) noexcept {
  return short_way::open() && stays_plain(buffer, count, type, tag);
}
inline int post_at_once(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag,
                        MPI_Comm comm, MPI_Request* request) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  int rc = pmpi::Irecv(buffer, static_cast<int>(count), type, source, tag, comm, request);
  rc = host_mpi::started(rc, *request);
  if (rc == MPI_SUCCESS) [[likely]]
    plain.enter(*request, tag, plain.range_of(buffer, count));
  return rc;
}

/// While it lives the caller is in a plain receive that blocks.
class plain_wait {
 public:
  plain_wait() noexcept { ticket::plain().enter_blocking(); }
  ~plain_wait() { ticket::plain().leave_blocking(); }
  plain_wait(const plain_wait&) = delete;
  plain_wait& operator=(const plain_wait&) = delete;
};

/// The same for MPI_Recv.
[[gnu::always_inline]] inline bool receives_plain(const void* buffer, MPI_Count count,
                                                  int tag) noexcept {
  return short_way::open() && stays_plain(buffer, count, tag) && ticket::progress().idle();
}
inline int receive_at_once(void* buffer, MPI_Count count, MPI_Datatype type, int source, int tag,
                           MPI_Comm comm, MPI_Status* status) noexcept {
  const plain_wait waits;
  return pmpi::Recv(buffer, static_cast<int>(count), type, source, tag, comm, status);
}

/// For MPI_Sendrecv.
[[gnu::always_inline]] inline bool exchanges_plain(const void* from, MPI_Count send_count,
                                                   const void* to, MPI_Count count,
                                                   int tag) noexcept {
  return receives_plain(to, count, tag) && fits(send_count) && memory::known_host(from);
}
inline int exchange_at_once(const void* from, MPI_Count send_count, MPI_Datatype send_type,
                            int destination, int send_tag, void* to, MPI_Count count,
                            MPI_Datatype type, int source, int tag, MPI_Comm comm,
                            MPI_Status* status) noexcept {
  const plain_wait waits;
  return pmpi::Sendrecv(from, static_cast<int>(send_count), send_type, destination, send_tag, to,
                        static_cast<int>(count), type, source, tag, comm, status);
}

// --- slow path ---

/// MPI_Irecv as the host MPI's own; under the progress lock. False: this receive is not of that
/// kind, and nothing was done.
bool post_plain(const pt2pt::receive_args& a, MPI_Request* request, int* rc) noexcept;

/// The same for the start of a persistent receive whose request of the host MPI's is `native`.
bool start_plain(const pt2pt::receive_args& a, MPI_Request native, int* rc) noexcept;

/// MPI_Sendrecv_replace as the host MPI's own, which keeps the bytes itself. False: as above.
inline bool replace_plain(const pt2pt::replace_args& a, MPI_Status* status, int* rc) noexcept {
  if (!may_block() || trace::on() || !fits(a.count) || !ticket::stash::instance().empty() ||
      !memory::surely_host(a.buffer) || !ticket::plain().may_begin(a.receive_tag))
    return false;
  const plain_wait waits;
  *rc = pmpi::Sendrecv_replace(a.buffer, static_cast<int>(a.count), a.type, a.destination,
                               a.send_tag, a.source, a.receive_tag, a.comm, status);
  return true;
}

/// Receives into contiguous host memory; under the progress lock, while it has no worker. With
/// `beside`, of host memory, it is an MPI_Sendrecv. False: this receive is not of that kind, and
/// nothing was done.
bool receive_plain(const pt2pt::receive_args& a, const pt2pt::send_args* beside, MPI_Status* status,
                   int* rc) noexcept;

}  // namespace telpher::mpi
