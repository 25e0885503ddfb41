// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/agreement.hpp"

#include <algorithm>

namespace telpher::coll::exchange {
namespace {

constexpr std::uint64_t pack(std::uint64_t call, unsigned low) {
  return call << 8 | low;
}

constexpr std::uint64_t closed = 0x80;
static_assert(most_ranks < closed);

}  // namespace

agreement::agreement(agreement_line* const* lines, int ranks, int me) noexcept
    : ranks_(ranks), me_(me) {
  know(lines);
}

agreement::agreement(agreement_line& own, int ranks, int me) noexcept : ranks_(ranks), me_(me) {
  lines_[static_cast<std::size_t>(me)] = &own;
}

void agreement::know(agreement_line* const* lines) noexcept {
  std::copy_n(lines, ranks_, lines_.begin());
}

void agreement::begin(std::uint64_t call) noexcept {
  call_ = call;
  votes_ = 0;
  seen_ = 0;
  all_ = true;
  devices_ = 0;
}

bool agreement::all_have_read() noexcept {
  unread& slot = unread_[call_ % agreement_line::slots];
  for (int r = 0; r < ranks_; ++r) {
    if (!(slot.readers >> r & 1)) continue;
    if (line(r).read.load(std::memory_order_acquire) < slot.call) return false;
    slot.readers &= ~(std::uint64_t{1} << r);
  }
  return true;
}

void agreement::propose(proposal p) noexcept {
  own_slot().proposed.store(pack(call_, static_cast<unsigned>(p)), std::memory_order_release);
}

// A later number than the call's means that the rank proposed host (agreement.hpp).
agreement::answer agreement::proposals() noexcept {
  for (; seen_ < ranks_; ++seen_) {
    const std::uint64_t proposed = slot_of(seen_).proposed.load(std::memory_order_acquire);
    if (proposed >> 8 < call_) return answer::pending;
    if (proposed == pack(call_, static_cast<unsigned>(proposal::device)))
      devices_ |= std::uint64_t{1} << seen_;
    else
      all_ = false;
  }
  return all_ ? answer::yes : answer::no;
}

void agreement::propose_revocably() noexcept {
  propose(proposal::device);
  std::uint64_t seen = cell().load(std::memory_order_acquire), next = 0;
  do {
    const bool this_call = seen >> 8 == call_;
    if (seen >> 8 > call_ || (this_call && (seen & closed))) return;
    next = this_call ? seen + 1 : pack(call_, 1);
  } while (!cell().compare_exchange_weak(seen, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
}

agreement::answer agreement::decision() noexcept {
  const std::uint64_t full = pack(call_, static_cast<unsigned>(ranks_));
  bool declined = false;
  if (cell().load(std::memory_order_acquire) != full)
    for (seen_ = 0; seen_ < ranks_ && !declined; ++seen_)
      declined = line(seen_).declined.load(std::memory_order_acquire) >= call_;
  const std::uint64_t seen = cell().load(std::memory_order_acquire);
  if (seen == full) {
    devices_ = ~std::uint64_t{0} >> (64 - ranks_);
    return answer::yes;
  }
  const bool over = seen >> 8 > call_ || (seen >> 8 == call_ && (seen & closed));
  return declined || over ? answer::no : answer::pending;
}

bool agreement::withdraw() noexcept {
  const std::uint64_t full = pack(call_, static_cast<unsigned>(ranks_));
  std::uint64_t seen = cell().load(std::memory_order_acquire);
  do {
    if (seen == full) return false;
    if (seen >> 8 != call_) return true;  // the cell is a later call's: this one was declined
  } while (!cell().compare_exchange_weak(seen, seen | closed, std::memory_order_acq_rel,
                                         std::memory_order_acquire));
  return true;
}

void agreement::decline(std::uint64_t call) noexcept {
  own().declined.store(call, std::memory_order_release);
}

void agreement::vote(bool yes) noexcept {
  own_slot().voted[static_cast<std::size_t>(votes_)].store(pack(call_, yes ? 1 : 0),
                                                           std::memory_order_release);
  ++votes_;
  seen_ = 0;
  all_ = true;
}

agreement::answer agreement::result() noexcept {
  for (; seen_ < ranks_; ++seen_) {
    const std::uint64_t voted =
        slot_of(seen_).voted[static_cast<std::size_t>(votes_ - 1)].load(std::memory_order_acquire);
    if (voted >> 8 != call_) return answer::pending;
    all_ = all_ && (voted & 1) != 0;
  }
  return all_ ? answer::yes : answer::no;
}

bool agreement::refused() const noexcept {
  for (int r = 0; r < ranks_; ++r)
    if (slot_of(r).voted[static_cast<std::size_t>(votes_)].load(std::memory_order_acquire) ==
        pack(call_, 0))
      return true;
  return false;
}

void agreement::finish() noexcept {
  const std::uint64_t self = std::uint64_t{1} << me_;
  unread_[call_ % agreement_line::slots] = {call_, devices_ & ~self};
  own().read.store(call_, std::memory_order_release);
}

int agreement::missing() const noexcept {
  if (seen_ < ranks_) return seen_;
  for (int r = 0; r < ranks_; ++r)
    if (slot_of(r).proposed.load(std::memory_order_relaxed) >> 8 < call_) return r;
  return -1;
}

}  // namespace telpher::coll::exchange
