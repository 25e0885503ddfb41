// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/stash.hpp"

#include <cstring>

#include "host_mpi/received.hpp"

namespace telpher::ticket {
namespace {

bool matches(const MPI_Status& envelope, int source, int tag) noexcept {
  return (source == MPI_ANY_SOURCE || source == envelope.MPI_SOURCE) &&
         (tag == MPI_ANY_TAG || tag == envelope.MPI_TAG);
}

}  // namespace

stash::iterator stash::find(int source, int tag, MPI_Comm comm) noexcept {
  for (auto e = entries_.begin(); e != entries_.end(); ++e)
    if (e->comm == comm && matches(e->envelope, source, tag)) return e;
  return entries_.end();
}

// The program is told the payload's size, and a sender of this node that its ticket has gone before
// the message is received. A ticket that is wrong is found when it is received.
void stash::note_ticket(entry& e) noexcept {
  ticket t;
  if (read(e.bytes, e.size, peers_.job().size, peers_.slots(), t) != status::ok) return;
  pmpi::Status_set_elements_x(&e.envelope, MPI_BYTE, static_cast<MPI_Count>(t.bytes));
  if (t.slot == no_slot) return;
  if (const path::segment& sender = peers_.segment_of(t.sender))
    sender.cell(t.slot).probed.store(t.epoch, std::memory_order_release);
}

// Keeps a message just taken from the host MPI. One of a ticket's size is received and looked at.
int stash::keep(MPI_Message message, const MPI_Status& envelope, MPI_Comm comm) noexcept {
  entry e{comm, envelope, message, {}, host_mpi::bytes_of(envelope), MPI_REQUEST_NULL};
  if (may_be_ticket(e.size)) {
    MPI_Status s;
    if (const int rc = pmpi::Mrecv(e.bytes, ticket_bytes, MPI_BYTE, &e.message, &s)) return rc;
    e.message = MPI_MESSAGE_NULL;
    if (is_ticket(e.bytes, peers_.job().nonce)) note_ticket(e);
  }
  entries_.push_back(e);
  return MPI_SUCCESS;
}

// After an error handler of the program's has returned, MPICH returns MPI_SUCCESS and writes no
// flag.
constexpr int unanswered = -1;

// Extracts the messages of one source, oldest first, until one matches the tag.
int stash::extract_until(int source, int tag, MPI_Comm comm) noexcept {
  for (;;) {
    int flag = unanswered;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status s;
    if (const int rc = pmpi::Improbe(source, MPI_ANY_TAG, comm, &flag, &message, &s)) return rc;
    if (flag == unanswered) return MPI_ERR_OTHER;
    if (!flag) return MPI_SUCCESS;
    if (const int rc = keep(message, s, comm)) return rc;
    if (tag == MPI_ANY_TAG || s.MPI_TAG == tag) return MPI_SUCCESS;
  }
}

// Looks here first. Then takes a message of ticket size from the host MPI. Others are reported in
// `flag` and `native`: a second probe could find another one.
int stash::look(int source, int tag, MPI_Comm comm, iterator* found, int* flag,
                MPI_Status* native) noexcept {
  *found = find(source, tag, comm);
  *flag = 0;
  if (*found != entries_.end()) return MPI_SUCCESS;
  int asked = unanswered;
  if (const int rc = pmpi::Iprobe(source, tag, comm, &asked, native)) return rc;
  if (asked == unanswered) return MPI_ERR_OTHER;
  *flag = asked;
  if (!asked || !may_be_ticket(host_mpi::bytes_of(*native))) return MPI_SUCCESS;
  *flag = 0;
  if (const int rc = extract_until(native->MPI_SOURCE, native->MPI_TAG, comm)) return rc;
  *found = find(source, tag, comm);
  return MPI_SUCCESS;
}

int stash::probe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept {
  iterator e;
  MPI_Status native;
  if (const int rc = look(source, tag, comm, &e, flag, &native)) return rc;
  if (e != entries_.end()) *flag = 1;
  if (*flag) host_mpi::copy_status(status, e != entries_.end() ? e->envelope : native);
  return MPI_SUCCESS;
}

int stash::match(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                 MPI_Status* status) noexcept {
  iterator e;
  MPI_Status native;
  if (const int rc = look(source, tag, comm, &e, flag, &native)) return rc;
  int rc = MPI_SUCCESS;
  if (e != entries_.end()) {
    *flag = 1;
    host_mpi::copy_status(status, e->envelope);
    rc = extract(e, message);
  } else if (*flag) {
    rc = pmpi::Improbe(native.MPI_SOURCE, native.MPI_TAG, comm, flag, message, status);
  }
  if (rc == MPI_SUCCESS && *flag) origins_.insert_or_assign(*message, comm);
  return rc;
}

MPI_Comm stash::comm_of(MPI_Message message) const noexcept {
  const auto found = origins_.find(message);
  return found != origins_.end() ? found->second : MPI_COMM_WORLD;
}

// A ticket is answered as if its receive had no room. Any other message is given the room it needs:
// the host MPI's own error for one that is too long would go to the program.
void stash::discard(held_lock& held, entry& e) noexcept {
  receive nowhere(receives_);
  const bool ticket = e.message == MPI_MESSAGE_NULL;
  const auto room = ticket ? 0 : static_cast<MPI_Count>(e.size);
  memory::buffer bytes;
  if (room > 0) {
    auto b = memory::buffer::host(e.size, nullptr);
    if (!b) return;  // it stays with the host MPI
    bytes = std::move(*b);
  }
  if (nowhere.prepare(bytes.data(), room, MPI_BYTE, e.comm) != status::ok) return;
  if (ticket)
    nowhere.take(e.bytes, e.size, e.envelope);
  else if (nowhere.post_matched(&e.message) != MPI_SUCCESS)
    return;
  receives_.watch(nowhere);
  progress().wait_until(held, "a communicator's end", [&] {
    receives_.check(nowhere, true);
    return nowhere.settled();
  });
  nowhere.finish(MPI_STATUS_IGNORE);
  receives_.forget(nowhere);
}

void stash::forget(held_lock& held, MPI_Comm comm) noexcept {
  std::erase_if(origins_, [comm](const auto& o) { return o.second == comm; });
  std::list<entry> gone;
  for (auto e = entries_.begin(); e != entries_.end();) {
    const auto next = std::next(e);
    if (e->comm == comm) gone.splice(gone.end(), entries_, e);
    e = next;
  }
  for (entry& e : gone) discard(held, e);
}

// The handle of an entry, which leaves the list.
int stash::extract(iterator e, MPI_Message* message) noexcept {
  if (e->message == MPI_MESSAGE_NULL) return stand_in(e, message);
  *message = e->message;
  entries_.erase(e);
  return MPI_SUCCESS;
}

// The program needs an MPI_Message handle for bytes that we have already received: a message to
// ourselves on the private communicator stands for them.
int stash::stand_in(iterator e, MPI_Message* message) noexcept {
  const host_mpi::job& job = peers_.job();
  entry kept = *e;
  entries_.erase(e);
  static const std::byte nothing{};
  if (const int rc =
          pmpi::Isend(&nothing, 0, MPI_BYTE, job.rank, job.tag_limit, job.control, &kept.carrier))
    return rc;
  if (const int rc = pmpi::Mprobe(job.rank, job.tag_limit, job.control, message, MPI_STATUS_IGNORE))
    return rc;
  matched_.emplace(*message, kept);
  return MPI_SUCCESS;
}

bool stash::give(receive& r, int source, int tag, MPI_Comm comm, int* rc) noexcept {
  *rc = MPI_SUCCESS;
  if (entries_.empty()) return false;
  const iterator e = find(source, tag, comm);
  if (e == entries_.end()) return false;
  if (e->message != MPI_MESSAGE_NULL)
    *rc = r.post_matched(&e->message);
  else
    r.take(e->bytes, e->size, e->envelope);
  entries_.erase(e);
  return true;
}

int stash::give_matched(receive& r, MPI_Message* message) noexcept {
  origins_.erase(*message);
  const auto found = matched_.find(*message);
  if (found == matched_.end()) return r.post_matched(message);
  entry kept = found->second;
  matched_.erase(found);
  if (const int rc = pmpi::Mrecv(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE)) return rc;
  pmpi::Wait(&kept.carrier, MPI_STATUS_IGNORE);
  r.take(kept.bytes, kept.size, kept.envelope);
  return MPI_SUCCESS;
}

}  // namespace telpher::ticket
