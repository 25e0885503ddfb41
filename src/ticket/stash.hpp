// SPDX-License-Identifier: BSD-3-Clause
// Messages that a probe took out of the host MPI. A probed message of a ticket's size may be a
// ticket, whose real size only its content tells, so it is extracted, received and kept here; later
// receives and probes look here first. To keep the order in which messages of a source match, every
// older message of that source is extracted before it (unreceived, as an MPI_Message). So all that
// the stash holds of a source is older than what the host MPI holds of it.
// All functions under the lock.
#pragma once

#include <cstddef>
#include <list>
#include <unordered_map>

#include "host_mpi/host_mpi.hpp"
#include "ticket/receives.hpp"

namespace telpher::ticket {

class stash {
 public:
  explicit stash(receive_list& all) noexcept : receives_(all), peers_(all.peers()) {}
  static stash& instance() noexcept;

  bool empty() const noexcept { return entries_.empty(); }

  /// MPI_Iprobe with the payload's size. Returns PMPI's code.
  int probe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) noexcept;
  /// MPI_Improbe with the payload's size.
  int match(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
            MPI_Status* status) noexcept;
  /// Gives a kept message to a receive, if one matches. PMPI's code is put into `rc`.
  bool give(receive& r, int source, int tag, MPI_Comm comm, int* rc) noexcept;
  /// Starts the receive of a message that match() returned, whether it is ours or the host MPI's.
  int give_matched(receive& r, MPI_Message* message) noexcept;
  /// The communicator of a message that match() returned, which its handle does not tell:
  /// MPI_COMM_WORLD if the program has freed it since, or matched the message elsewhere.
  MPI_Comm comm_of(MPI_Message message) const noexcept;
  /// The program is about to free a communicator: what nobody has received from it is received and
  /// thrown away, so that its senders are done.
  void forget(held_lock& held, MPI_Comm comm) noexcept;

 private:
  struct entry {
    MPI_Comm comm;
    MPI_Status envelope;  // source, tag, and the payload's size
    MPI_Message message;  // MPI_MESSAGE_NULL once received into `bytes`
    std::byte bytes[ticket_bytes];
    std::size_t size;                        // of them
    MPI_Request carrier = MPI_REQUEST_NULL;  // of the message that stands for it, see match
  };
  using iterator = std::list<entry>::iterator;

  void discard(held_lock& held, entry& e) noexcept;
  iterator find(int source, int tag, MPI_Comm comm) noexcept;
  int extract_until(int source, int tag, MPI_Comm comm) noexcept;
  void note_ticket(entry& e) noexcept;
  int keep(MPI_Message message, const MPI_Status& envelope, MPI_Comm comm) noexcept;
  int look(int source, int tag, MPI_Comm comm, iterator* found, int* flag,
           MPI_Status* native) noexcept;
  int extract(iterator e, MPI_Message* message) noexcept;
  int stand_in(iterator e, MPI_Message* message) noexcept;

  receive_list& receives_;
  peer_table& peers_;
  std::list<entry> entries_;
  std::unordered_map<MPI_Message, entry> matched_;     // those that we hold
  std::unordered_map<MPI_Message, MPI_Comm> origins_;  // of all that the program has matched
};

inline made_at_start<stash> the_stash;
inline stash& stash::instance() noexcept {
  return *the_stash;
}

}  // namespace telpher::ticket
