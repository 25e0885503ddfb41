// SPDX-License-Identifier: BSD-3-Clause
// Messages that a probe took out of the host MPI. A probed message of a ticket's size may be a
// ticket, and only its content tells the payload's size. So it is extracted by a matched probe,
// received and kept here. Later receives and probes look here first. Messages of a source must
// match in their order. So every older message of that source on the communicator is extracted
// first. Of these, messages of a ticket's size are received too, and others stay an MPI_Message. So
// all that the stash holds of a source and communicator is older than what the host MPI holds of
// them. All functions are called under the progress lock.
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
  /// Gives a kept message to a receive, if one matches. `rc` gets PMPI's code.
  bool give(receive& r, int source, int tag, MPI_Comm comm, int* rc) noexcept;
  /// Starts the receive of a message that match() returned, whether it is ours or the host MPI's.
  int give_matched(receive& r, MPI_Message* message) noexcept;
  /// The communicator of a message that match() returned; MPI cannot be asked for it.
  /// MPI_COMM_WORLD if the program has freed the communicator, or matched the message elsewhere.
  MPI_Comm comm_of(MPI_Message message) const noexcept;
  /// The program is about to free a communicator. Its messages that are kept here are received and
  /// thrown away, so that their senders can finish.
  void forget(held_lock& held, MPI_Comm comm) noexcept;

 private:
  struct entry {
    MPI_Comm comm;
    MPI_Status envelope;  // source, tag, and the payload's size
    MPI_Message message;  // MPI_MESSAGE_NULL once received into `bytes`
    std::byte bytes[ticket_bytes];
    std::size_t size;                        // of the host MPI's message
    MPI_Request carrier = MPI_REQUEST_NULL;  // the send of a stand-in, see stand_in()
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
  std::unordered_map<MPI_Message, entry> matched_;     // by the handle of their stand-in
  std::unordered_map<MPI_Message, MPI_Comm> origins_;  // of all messages that match() returned
};

inline made_at_start<stash> the_stash;
inline stash& stash::instance() noexcept {
  return *the_stash;
}

}  // namespace telpher::ticket
