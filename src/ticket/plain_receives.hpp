// SPDX-License-Identifier: BSD-3-Clause
// Plain receives: receives of host memory that Telpher leaves to the host MPI, persistent ones for
// the rounds in which they may be. The program's handle is the host MPI's request, and Telpher does
// not look at what arrives. That is right as long as no ticket can come in place of the message. So
// each rank tells the senders of its node for which classes of tags it may have plain receives
// (path/slot.hpp). A sender that wants to send a ticket of such a class sends the bytes instead.
// From then on no new receive of the class is plain. So a program that uses no device memory with a
// class of tags pays for its receives little more than the host MPI takes.
//
// Two things have to be known of the plain receives that are under way:
// - whether there is one of a class: when the last has ended, the class may have tickets;
// - where they write: no ticket may lie there (written_ranges.hpp).
// Nearly always nobody asks for either, and a program that waits for its receives in the order in
// which it posted them is the usual one. So a new receive is only put at the end of a row, and one
// whose end is reported is looked for at the row's beginning. Where that fails, and the row is not
// short, all of it is filed in a table by handle.
// Our wrappers of the calls that end requests report each end here (mpi/host_requests.hpp). Code
// that calls the host MPI directly may end a request without a report. Then its class gets no
// tickets until the host MPI gives out the same handle again. That is slower, but right.
//
// With MPI_THREAD_MULTIPLE all of this happens under the progress lock, and a call that ends plain
// receives keeps it from the host MPI's call to the report: meanwhile the host MPI could give a
// handle to a receive of another thread.
//
// There are no plain receives in a job of several nodes, or for MPI_ANY_TAG.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "host_mpi/request_table.hpp"
#include "ticket/peers.hpp"
#include "ticket/written_ranges.hpp"

namespace telpher::ticket {

class plain_receives {
 public:
  /// No request is known.
  bool empty() const noexcept { return first_ == end_ && filed_requests_.size() == 0; }

  /// Whether a receive with this tag may be posted as a plain one.
  bool may_begin(int tag) noexcept {
    if (tag < 0 || !peers().all_near()) return false;
    if (peers().own().begin_plain(tag)) return true;
    give_way(path::tag_class(tag));
    return false;
  }
  /// A fast check that reads two words only: true if may_begin() would say yes without a change.
  /// Where receives are plain it is mostly true.
  bool has_begun(int tag) const noexcept { return tag >= 0 && peers().own().has_begun_plain(tag); }
  /// A plain receive was posted.
  void enter(MPI_Request request, int tag, const written_ranges::range& r) noexcept {
    if (end_ == row_size) [[unlikely]]
      make_room();
    handles_[end_] = request;
    rest_[end_++] = {r, tag};
  }
  /// A request has ended, or does not belong to the program any more. It may be any request: one
  /// that is not a plain receive is ignored.
  [[gnu::always_inline]] void ended(MPI_Request request) noexcept {
    if (first_ != end_ && handles_[first_] == request) [[likely]]
      drop(1);
    else if (!empty())
      ended_slow(request);
    look_at_wanted();
  }
  bool holds(MPI_Request request) noexcept;
  /// After a call that has failed, which need not tell what it has ended: those that are gone from
  /// the program's handles, or complete.
  [[gnu::cold, gnu::noinline]] void ended_after_error(std::span<const MPI_Request> before,
                                                      std::span<const MPI_Request> now) noexcept;

  /// Requests that a call is about to end, as far as they come in the row's order.
  struct in_turn {
    std::size_t records;    // from the row's beginning
    std::uint64_t changes;  // of the row, until then
    bool all;               // no other one of these requests is a plain receive
  };
  in_turn find_in_turn(int count, const MPI_Request* requests) const noexcept {
    const std::size_t in_row = end_ - first_;
    const auto asked = static_cast<std::size_t>(std::max(count, 0));
    std::size_t n = std::min(in_row, asked);
    if (!std::equal(requests, requests + n, handles_.data() + first_)) [[unlikely]]
      n = find_among(count, requests);
    return {n, changes_, n == asked || (n == in_row && filed_requests_.size() == 0)};
  }
  /// The call has ended them all; or, if it `failed`, some. Calls of MPI that were made meanwhile
  /// may have changed the row: then these ends have no report.
  void ended(const in_turn& those, bool failed, int count, const MPI_Request* requests) noexcept {
    if (failed) [[unlikely]]
      ended_slow(those, count, requests);
    else if (those.changes == changes_) [[likely]]
      drop(those.records);
    look_at_wanted();
  }

  /// The same for a plain receive that blocks.
  void enter_blocking() noexcept { ++blocking_; }
  void leave_blocking() noexcept {
    --blocking_;
    look_at_wanted();
  }

  /// Whether this is the type that was last given to tell(), and the bytes of its element. Only
  /// types may be given that live to the end and whose elements are single runs of bytes at their
  /// addresses.
  bool knows(MPI_Datatype type) const noexcept { return type == type_; }
  written_ranges::range range_of(const void* buffer, MPI_Count count) const noexcept {
    const auto first = reinterpret_cast<std::uintptr_t>(buffer);
    return {first, first + static_cast<std::size_t>(count) * type_bytes_};
  }
  void tell(MPI_Datatype type, std::size_t bytes) noexcept {
    type_ = type;
    type_bytes_ = bytes;
  }

  /// To be called when a receive that is not plain is posted with this tag or MPI_ANY_TAG. Tickets
  /// may come for it, so classes without a plain receive under way are opened to them.
  void expect_tickets(int tag) noexcept;
  /// Whether a plain receive that is under way may write to this range.
  bool write_to(const written_ranges::range& r) noexcept;

  /// The end of the job.
  void forget_all() noexcept;

 private:
  struct one {  // but its handle
    written_ranges::range range;
    int tag = 0;
  };
  static std::size_t index(int tag) noexcept { return static_cast<unsigned>(tag) % 64; }
  static bool overlap(const written_ranges::range& a, const written_ranges::range& b) noexcept {
    return a.first < b.end && b.first < a.end;
  }
  static written_ranges::range hull_of(const written_ranges::range& a,
                                       const written_ranges::range& b) noexcept {
    if (a.empty()) return b;
    if (b.empty()) return a;
    return {std::min(a.first, b.first), std::max(a.end, b.end)};
  }

  /// Takes the row's first ones away.
  void drop(std::size_t records) noexcept {
    if ((first_ += records) == end_) first_ = end_ = covered_ = 0;
    ++changes_;
  }
  void look_at_wanted() noexcept {
    if (const std::uint64_t wanted = peers().own().wanted_tags()) [[unlikely]]
      give_way(wanted);
  }
  /// Ends those of these classes of which no receive is under way.
  void give_way(std::uint64_t classes) noexcept;
  [[gnu::noinline]] void make_room() noexcept;
  [[gnu::noinline]] std::size_t find_among(int count, const MPI_Request* requests) const noexcept;
  void file_all() noexcept;
  [[gnu::noinline]] void ended_slow(MPI_Request request) noexcept;
  [[gnu::cold, gnu::noinline]] void ended_slow(const in_turn& those, int count,
                                               const MPI_Request* requests) noexcept;
  void cover_row() noexcept;
  bool some_write_to(const written_ranges::range& r) noexcept;

  std::size_t first_ = 0, end_ = 0;  // of the row
  std::uint64_t changes_ = 0;        // of the row, other than new ones at its end
  std::size_t blocking_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::size_t type_bytes_ = 0;
  host_mpi::request_table<one> filed_requests_;
  std::array<std::size_t, 64> filed_{};  // of each class of tags
  written_ranges::range hull_;           // may be larger than needed
  std::size_t covered_ = 0;
  static constexpr std::size_t row_size = 256;
  std::array<MPI_Request, row_size> handles_;  // the row
  std::array<one, row_size> rest_;
};

inline made_at_start<plain_receives> the_plain_receives;
inline plain_receives& plain() noexcept {
  return *the_plain_receives;
}

}  // namespace telpher::ticket
