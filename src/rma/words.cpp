// SPDX-License-Identifier: BSD-3-Clause
#include "rma/words.hpp"

#include <sched.h>

namespace telpher::rma {
namespace {

// The order in the segment: a cache line for its cookie, one for the barrier and votes, one for
// each rank's locks, then the counters, then the attachments.
constexpr std::size_t line = 64;

constexpr std::size_t counters_at(std::size_t ranks) {
  return (2 + ranks) * line;
}
constexpr std::size_t attachments_at(std::size_t ranks) {
  return counters_at(ranks) + (2 * ranks * ranks * sizeof(std::uint64_t) + line - 1) / line * line;
}

}  // namespace

std::size_t words::bytes(int ranks, bool dynamic) noexcept {
  const auto n = static_cast<std::size_t>(ranks);
  return attachments_at(n) + (dynamic ? n * most_attached * sizeof(attachment) : 0);
}

std::atomic<std::uint64_t>& words::arrived() const noexcept {
  return *at<std::atomic<std::uint64_t>>(line);
}

std::atomic<std::uint64_t>& words::refused(std::uint32_t vote) const noexcept {
  return at<std::atomic<std::uint64_t>>(line)[1 + vote % 2];
}

std::atomic<std::uint32_t>& words::lock(int target) const noexcept {
  return at<std::atomic<std::uint32_t>>((2 + static_cast<std::size_t>(target)) * line)[0];
}

std::atomic<std::uint32_t>& words::exclusion(int target) const noexcept {
  return at<std::atomic<std::uint32_t>>((2 + static_cast<std::size_t>(target)) * line)[1];
}

std::atomic<std::uint64_t>& words::posted(int target, int origin) const noexcept {
  return at<std::atomic<std::uint64_t>>(
      counters_at(static_cast<std::size_t>(ranks_)))[target * ranks_ + origin];
}

std::atomic<std::uint64_t>& words::completed(int target, int origin) const noexcept {
  return (&posted(0, 0))[ranks_ * ranks_ + target * ranks_ + origin];
}

attachment* words::attachments(int target) const noexcept {
  return at<attachment>(attachments_at(static_cast<std::size_t>(ranks_))) +
         static_cast<std::size_t>(target) * most_attached;
}

bool words::try_lock(int target, bool exclusively) const noexcept {
  std::atomic<std::uint32_t>& word = lock(target);
  std::uint32_t seen = word.load(std::memory_order_relaxed);
  if (exclusively) {
    seen = 0;
    return word.compare_exchange_strong(seen, exclusive, std::memory_order_acq_rel);
  }
  while (seen != exclusive)
    if (word.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) return true;
  return false;
}

void words::unlock(int target, bool exclusively) const noexcept {
  lock(target).fetch_sub(exclusively ? exclusive : 1, std::memory_order_release);
}

exclusion::exclusion(const words& w, int target) noexcept : word_(w.exclusion(target)) {
  while (word_.exchange(1, std::memory_order_acquire) != 0) sched_yield();
}

}  // namespace telpher::rma
