// SPDX-License-Identifier: BSD-3-Clause
// Receives of a program that keeps to host memory. They cost little more than the host MPI's own:
// they are its own while no ticket can come for them (ticket/plain_receives.hpp). A blocking one
// that a ticket may meet needs no record while nothing else is under way. What programs do most is
// in line here, for the wrappers.
#pragma once

#include "host_mpi/reserve.hpp"
#include "memory/surely_host.hpp"
#include "mpi/pt2pt.hpp"
#include "ticket/plain_receives.hpp"
#include "ticket/stash.hpp"

namespace telpher::mpi {

// --- fast path ---

/// post_plain() for every type, count and tag.
[[gnu::cold, gnu::noinline]] bool post_plain_slow(const pt2pt::receive_args& a,
                                                  MPI_Request* request, int* rc) noexcept;

/// Whether nothing of ours is under way and no other thread may begin something: a call may block
/// in the host MPI.
inline bool may_block() noexcept {
  const ticket::progress_engine& e = ticket::progress();
  return !e.threaded() && e.idle();
}

/// Whether a receive into this buffer may be plain, if its tag allows it.
inline bool may_be_plain(const void* buffer) noexcept {
  return memory::surely_host(buffer) && !trace::on() && ticket::stash::instance().empty();
}

/// Whether a receive is plain for sure: one with this tag has begun plain before, and nothing has
/// changed since that forbids it.
inline bool stays_plain(const void* buffer, int tag) noexcept {
  return ticket::plain().has_begun(tag) && may_be_plain(buffer);
}

inline bool fits(MPI_Count count) noexcept {
  return count == static_cast<int>(count);
}

/// MPI_Irecv as the host MPI's own. False: this receive is not of that kind, and nothing was done.
inline bool post_plain(const pt2pt::receive_args& a, MPI_Request* request, int* rc) noexcept {
  ticket::plain_receives& plain = ticket::plain();
  const std::size_t element = plain.bytes_of(a.type);
  const bool simple = element > 0 && a.count >= 0 && fits(a.count);
  if (!simple || !stays_plain(a.buffer, a.tag) || ticket::receives().written().any_exposed() ||
      host_mpi::memory_is_short()) [[unlikely]]
    return post_plain_slow(a, request, rc);
  *rc = pmpi::Irecv(a.buffer, static_cast<int>(a.count), a.type, a.source, a.tag, a.comm, request);
  *rc = host_mpi::started(*rc, *request);
  const auto first = reinterpret_cast<std::uintptr_t>(a.buffer);
  if (*rc == MPI_SUCCESS)
    plain.enter(*request, a.tag, {first, first + static_cast<std::size_t>(a.count) * element});
  return true;
}

/// While it lives the caller is in a plain receive that blocks.
class plain_wait {
 public:
  explicit plain_wait(int tag) noexcept : tag_(tag) { ticket::plain().enter(tag_); }
  ~plain_wait() { ticket::plain().leave(tag_); }
  plain_wait(const plain_wait&) = delete;
  plain_wait& operator=(const plain_wait&) = delete;

 private:
  int tag_;
};

/// MPI_Recv as the host MPI's own. False: as above.
inline bool receive_at_once(const pt2pt::receive_args& a, MPI_Status* status, int* rc) noexcept {
  if (!may_block() || !stays_plain(a.buffer, a.tag) || !fits(a.count)) return false;
  const plain_wait waits(a.tag);
  *rc = pmpi::Recv(a.buffer, static_cast<int>(a.count), a.type, a.source, a.tag, a.comm, status);
  return true;
}

/// MPI_Sendrecv as the host MPI's own. False: as above.
inline bool exchange_at_once(const pt2pt::send_args& s, const pt2pt::receive_args& r,
                             MPI_Status* status, int* rc) noexcept {
  if (!may_block() || !stays_plain(r.buffer, r.tag) || !memory::surely_host(s.buffer) ||
      !fits(r.count) || !fits(s.count))
    return false;
  const plain_wait waits(r.tag);
  *rc = pmpi::Sendrecv(s.buffer, static_cast<int>(s.count), s.type, s.destination, s.tag, r.buffer,
                       static_cast<int>(r.count), r.type, r.source, r.tag, r.comm, status);
  return true;
}

/// MPI_Sendrecv_replace as the host MPI's own, which keeps the bytes itself. False: as above.
inline bool replace_at_once(const pt2pt::replace_args& a, MPI_Status* status, int* rc) noexcept {
  if (!may_block() || !may_be_plain(a.buffer) || !fits(a.count) ||
      !ticket::plain().may_begin(a.receive_tag))
    return false;
  const plain_wait waits(a.receive_tag);
  *rc = pmpi::Sendrecv_replace(a.buffer, static_cast<int>(a.count), a.type, a.destination,
                               a.send_tag, a.source, a.receive_tag, a.comm, status);
  return true;
}

// --- slow path ---

/// Receives into contiguous host memory; under the engine's lock, while the engine is idle. With
/// `beside`, of host memory, it is an MPI_Sendrecv. False: this receive is not of that kind, and
/// nothing was done.
bool receive_plain(const pt2pt::receive_args& a, const pt2pt::send_args* beside, MPI_Status* status,
                   int* rc) noexcept;

}  // namespace telpher::mpi
