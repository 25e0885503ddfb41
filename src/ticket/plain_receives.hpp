// SPDX-License-Identifier: BSD-3-Clause
// Plain receives: receives of host memory that Telpher leaves to the host MPI. The program's handle
// is the host MPI's request, and Telpher does not look at what arrives. That is right as long as no
// ticket can come in place of the message. So each rank tells the senders of its node for which
// classes of tags it may have plain receives (path/slot.hpp). A sender that wants to send a ticket
// of such a class sends the bytes instead. From then on no new receive of the class is plain. So a
// program that uses no device memory with a class of tags pays for its receives little more than
// the host MPI takes.
//
// What has to be known of the plain receives that are under way:
// - how many there are of each class: when the last has ended, the class may have tickets;
// - where they write: no ticket may lie there (written_ranges.hpp).
// Our wrappers of the calls that end requests report each end here (mpi/host_requests.hpp). Code
// that calls the host MPI directly may end a request without a report. Then its class gets no
// tickets until the host MPI gives out the same handle again. That is slower, but right.
//
// There are no plain receives with MPI_THREAD_MULTIPLE, in a job of several nodes, or for
// MPI_ANY_TAG.
#pragma once

#include <algorithm>
#include <array>

#include "host_mpi/request_table.hpp"
#include "ticket/peers.hpp"
#include "ticket/written_ranges.hpp"

namespace telpher::ticket {

class plain_receives {
 public:
  explicit plain_receives(peer_table& known) noexcept : peers_(known) {}

  /// No request is known.
  bool empty() const noexcept { return requests_.size() == 0; }

  /// Whether a receive with this tag may be posted as a plain one. Must not be called while other
  /// threads may be in the library.
  bool may_begin(int tag) noexcept {
    return tag >= 0 && peers_.all_near() && (peers_.own().begin_plain(tag) || give_way(tag));
  }
  /// A fast check that reads two words only: true if may_begin() would say yes without a change.
  /// Where receives are plain it is mostly true.
  bool has_begun(int tag) const noexcept { return tag >= 0 && peers_.own().has_begun_plain(tag); }
  /// A plain receive was posted.
  void enter(MPI_Request request, int tag, const written_ranges::range& r) noexcept {
    hull_ = empty() ? r : hull_of(hull_, r);
    enter(tag);
    if (const auto before = requests_.enter(request, {tag, r})) [[unlikely]]
      leave(before->tag);  // ended without a report; the handle was given out again
  }
  /// A request has ended, or does not belong to the program any more. It may be any request: one
  /// that is not a plain receive is ignored.
  void ended(MPI_Request request) noexcept {
    if (const auto gone = requests_.take(request)) leave(gone->tag);
  }
  bool holds(MPI_Request request) const noexcept { return requests_.find(request) != nullptr; }

  /// The same for a plain receive whose end the caller sees itself, for example a blocking one.
  void enter(int tag) noexcept { ++under_way_[index(tag)]; }
  void leave(int tag) noexcept {
    if (--under_way_[index(tag)] == 0 && peers_.own().ticket_wanted(tag)) [[unlikely]]
      peers_.own().end_plain(tag);
  }

  /// The bytes of an element of the type that was last given to tell(); 0 for other types. Only
  /// types may be given that live to the end and whose elements are single runs of bytes at their
  /// addresses.
  std::size_t bytes_of(MPI_Datatype type) const noexcept { return type == type_ ? type_bytes_ : 0; }
  void tell(MPI_Datatype type, std::size_t bytes) noexcept {
    type_ = type;
    type_bytes_ = bytes;
  }

  /// To be called when a receive that is not plain is posted with this tag or MPI_ANY_TAG. Tickets
  /// may come for it, so classes without a plain receive under way are opened to them.
  void expect_tickets(int tag) noexcept;
  /// Whether a plain receive that is under way may write to this range.
  bool write_to(const written_ranges::range& r) noexcept {
    return r.first < hull_.end && hull_.first < r.end && some_write_to(r);
  }

  /// The end of the job.
  void forget_all() noexcept;

 private:
  struct one {
    int tag = 0;
    written_ranges::range range;
  };
  static std::size_t index(int tag) noexcept { return static_cast<unsigned>(tag) % 64; }
  static written_ranges::range hull_of(const written_ranges::range& a,
                                       const written_ranges::range& b) noexcept {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.first, b.first), std::max(a.end, b.end)};
  }
  bool give_way(int tag) noexcept;
  bool some_write_to(const written_ranges::range& r) noexcept;

  peer_table& peers_;
  host_mpi::request_table<one> requests_;
  std::array<std::size_t, 64> under_way_{};  // of each class of tags
  MPI_Datatype type_{};
  std::size_t type_bytes_ = 0;
  written_ranges::range hull_;  // contains the ranges of all; may be larger than needed
};

inline made_at_start<plain_receives> the_plain_receives;
inline plain_receives& plain() noexcept {
  return *the_plain_receives;
}

}  // namespace telpher::ticket
