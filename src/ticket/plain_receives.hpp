// SPDX-License-Identifier: BSD-3-Clause
// Receives of host memory that are the host MPI's alone: the program's handle is its request, and
// nobody looks at what it brings. That is right as long as no ticket can come in place of the
// message. Each rank says so to the senders of its node, by classes of tags (path/slot.hpp): a
// sender that wants to send a ticket to a class with plain receives sends bytes in its place, and
// from then on no receive of the class is plain. So a program that keeps device memory out of a
// class of tags pays for its receives what the host MPI takes, and little more.
//
// What has to be known of the plain receives that are under way:
// - how many there are of each class: when the last has ended, the class may have tickets;
// - where they write: no ticket may lie there (written_ranges.hpp).
// The calls that end requests tell of them (mpi/host_requests.hpp). If a request is ended without a
// word to us (by code that calls the host MPI directly), its class goes without tickets until its
// handle is seen again. That is slower, but right.
//
// Not with MPI_THREAD_MULTIPLE, not between nodes, and not for receives of any tag.
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

  /// Whether a receive with this tag may be posted as a plain one. Not while others may be in the
  /// library at once.
  bool may_begin(int tag) noexcept {
    return tag >= 0 && peers_.all_near() && (peers_.own().begin_plain(tag) || give_way(tag));
  }
  /// The same, if it needs no look at anything but two words: true mostly, where receives are
  /// plain.
  bool has_begun(int tag) const noexcept { return tag >= 0 && peers_.own().has_begun_plain(tag); }
  /// It was posted.
  void enter(MPI_Request request, int tag, const written_ranges::range& r) noexcept {
    hull_ = empty() ? r : hull_of(hull_, r);
    enter(tag);
    if (const auto before = requests_.enter(request, {tag, r})) [[unlikely]]
      leave(before->tag);  // it was ended without a word, and given out again
  }
  /// A request has ended, or does not belong to the program any more. It may be any request.
  void ended(MPI_Request request) noexcept {
    if (const auto gone = requests_.take(request)) leave(gone->tag);
  }
  bool holds(MPI_Request request) const noexcept { return requests_.find(request) != nullptr; }

  /// One that the caller waits for, or whose end it will know by itself.
  void enter(int tag) noexcept { ++under_way_[index(tag)]; }
  void leave(int tag) noexcept {
    if (--under_way_[index(tag)] == 0 && peers_.own().ticket_wanted(tag)) [[unlikely]]
      peers_.own().end_plain(tag);
  }

  /// The bytes of an element of the last type that was told, or nothing for other types. A type is
  /// told that lives to the end and whose elements are runs of bytes at their addresses.
  std::size_t bytes_of(MPI_Datatype type) const noexcept { return type == type_ ? type_bytes_ : 0; }
  void tell(MPI_Datatype type, std::size_t bytes) noexcept {
    type_ = type;
    type_bytes_ = bytes;
  }

  /// A receive with this tag, or of any, is posted that is not plain: a ticket may come for it.
  void expect_tickets(int tag) noexcept;
  /// Whether one of them may write to this range.
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
