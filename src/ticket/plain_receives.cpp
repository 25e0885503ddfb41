// SPDX-License-Identifier: BSD-3-Clause
#include "ticket/plain_receives.hpp"

#include <bit>

#include "host_mpi/error.hpp"

namespace telpher::ticket {

// A class's bit is kept when its last receive ends, because the next one mostly comes soon. It is
// taken back when a ticket is wanted.
void plain_receives::give_way(std::uint64_t classes) noexcept {
  path::own_segment& own = peers().own();
  if ((classes &= own.plain_tags()) == 0 || blocking_ > 0) return;
  for (std::uint64_t left = classes; left != 0; left &= left - 1)
    if (filed_[static_cast<std::size_t>(std::countr_zero(left))] > 0) classes &= ~(left & -left);
  for (std::size_t i = first_; i < end_; ++i) classes &= ~path::tag_class(rest_[i].tag);
  own.end_plain_classes(classes);
}

void plain_receives::expect_tickets(int tag) noexcept {
  give_way(tag >= 0 ? path::tag_class(tag) : ~std::uint64_t{0});
}

void plain_receives::file_all() noexcept {
  cover_row();
  for (; first_ < end_; ++first_) {
    const one& p = rest_[first_];
    ++filed_[index(p.tag)];
    // A handle that is given out again: its receive has ended without a report.
    const auto before = filed_requests_.enter(handles_[first_], p);
    if (before) --filed_[index(before->tag)];
  }
  first_ = end_ = covered_ = 0;
  ++changes_;
}

void plain_receives::make_room() noexcept {
  if (first_ < row_size / 2) return file_all();
  const auto by = static_cast<std::ptrdiff_t>(first_);
  std::copy(handles_.begin() + by, handles_.end(), handles_.begin());
  std::copy(rest_.begin() + by, rest_.end(), rest_.begin());
  end_ -= first_;
  covered_ = std::max(covered_, first_) - first_;
  first_ = 0;
  ++changes_;
}

// Sends may stand between the receives.
std::size_t plain_receives::find_among(int count, const MPI_Request* requests) const noexcept {
  std::size_t next = first_;
  for (int i = 0; i < count && next < end_; ++i) next += requests[i] == handles_[next];
  return next - first_;
}

// In a short row the receive is looked for, and need not be there: it may be a send.
void plain_receives::ended_slow(MPI_Request request) noexcept {
  constexpr std::size_t few = 16;
  if (end_ - first_ > few) file_all();
  for (std::size_t i = first_; i < end_; ++i) {
    if (handles_[i] != request) continue;
    if (covered_ <= i) covered_ = std::max(covered_, first_) + 1;
    for (; i > first_; --i) handles_[i] = handles_[i - 1], rest_[i] = rest_[i - 1];
    return drop(1);
  }
  if (const auto gone = filed_requests_.take(request)) --filed_[index(gone->tag)];
}

bool plain_receives::holds(MPI_Request request) noexcept {
  file_all();
  return filed_requests_.find(request) != nullptr;
}

void plain_receives::ended_slow(const in_turn& those, int count,
                                const MPI_Request* requests) noexcept {
  if (those.changes != changes_) return;
  std::array<MPI_Request, row_size> before;
  std::copy_n(handles_.begin() + static_cast<std::ptrdiff_t>(first_), those.records,
              before.begin());
  ended_after_error({before.data(), those.records}, {requests, static_cast<std::size_t>(count)});
}

// Only of ours it is known that their handles are still good.
void plain_receives::ended_after_error(std::span<const MPI_Request> before,
                                       std::span<const MPI_Request> now) noexcept {
  for (const MPI_Request r : before) {
    if (!holds(r)) continue;
    int done = std::ranges::find(now, r) == now.end();
    if (!done && host_mpi::look_at(r, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) done = 1;
    if (done) ended(r);
  }
}

// The hull contains the ranges of all but those in the row from covered_ on.
void plain_receives::cover_row() noexcept {
  covered_ = std::max(covered_, first_);
  if (filed_requests_.size() == 0 && covered_ == first_) hull_ = {};
  for (; covered_ < end_; ++covered_) hull_ = hull_of(hull_, rest_[covered_].range);
}

bool plain_receives::write_to(const written_ranges::range& r) noexcept {
  if (empty()) return false;
  cover_row();
  return overlap(hull_, r) && some_write_to(r);
}

// Makes the hull as small as it can be.
bool plain_receives::some_write_to(const written_ranges::range& r) noexcept {
  bool found = false;
  written_ranges::range all;
  const auto look = [&](const one& p) {
    found |= overlap(p.range, r);
    all = hull_of(all, p.range);
  };
  filed_requests_.for_each(look);
  for (std::size_t i = first_; i < end_; ++i) look(rest_[i]);
  hull_ = all;
  return found;
}

void plain_receives::forget_all() noexcept {
  filed_requests_.clear();
  filed_ = {};
  first_ = end_ = covered_ = 0;
  ++changes_;
}

}  // namespace telpher::ticket
