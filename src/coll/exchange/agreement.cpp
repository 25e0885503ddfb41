// SPDX-License-Identifier: BSD-3-Clause
#include "coll/exchange/agreement.hpp"

#include <algorithm>

namespace telpher::coll::exchange {
namespace {

constexpr std::uint64_t pack(std::uint64_t call, unsigned low) {
  return call << 8 | low;
}

}  // namespace

agreement::agreement(agreement_line* const* lines, int ranks, int me) noexcept
    : ranks_(ranks), me_(me) {
  std::copy_n(lines, ranks, lines_.begin());
}

void agreement::begin() noexcept {
  ++call_;
  votes_ = 0;
  seen_ = 0;
  all_ = true;
  devices_ = 0;
}

bool agreement::may_say() noexcept {
  promise& p = owed_[call_ % agreement_line::slots];
  for (int r = 0; r < ranks_; ++r) {
    if (!(p.readers >> r & 1)) continue;
    if (line(r).read.load(std::memory_order_acquire) < p.call) return false;
    p.readers &= ~(std::uint64_t{1} << r);
  }
  return true;
}

void agreement::say(word w) noexcept {
  own_slot().said.store(pack(call_, static_cast<unsigned>(w)), std::memory_order_release);
}

// A later number than the call's stands for host: see the head of agreement.hpp.
agreement::answer agreement::words() noexcept {
  for (; seen_ < ranks_; ++seen_) {
    const std::uint64_t said = slot_of(seen_).said.load(std::memory_order_acquire);
    if (said >> 8 < call_) return answer::pending;
    if (said == pack(call_, static_cast<unsigned>(word::device)))
      devices_ |= std::uint64_t{1} << seen_;
    else
      all_ = false;
  }
  return all_ ? answer::yes : answer::no;
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

void agreement::finish() noexcept {
  const std::uint64_t self = std::uint64_t{1} << me_;
  owed_[call_ % agreement_line::slots] = {call_, devices_ & ~self};
  own().read.store(call_, std::memory_order_release);
}

int agreement::missing() const noexcept {
  return seen_ < ranks_ ? seen_ : -1;
}

}  // namespace telpher::coll::exchange
