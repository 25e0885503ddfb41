// SPDX-License-Identifier: BSD-3-Clause
// How a process tells its peers on the node that allocations of its own have ended which they may
// have open: a ring of the last ones in its segment (memory/allocations.hpp has the registry).
//
// Only the owner writes, under the registry's lock: first the place in the ring, then `count`
// (release). A peer reads `count` (acquire), the places since its last look, and `count` again: if
// the owner is meanwhile a whole ring further on, what was read may be mixed from two endings, and
// the peer closes all that it does not use of this process. So it does when it was late. The words
// of a place are stored with release and read with acquire order: a peer that reads a new one also
// sees the count of the ending before it. A segment begins with zeros.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "memory/allocations.hpp"

namespace telpher::path {

struct endings {
  static constexpr std::uint64_t kept = 32;
  struct place {
    std::atomic<std::uint64_t> base, generation;
  };
  std::atomic<std::uint64_t> count;
  std::array<place, kept> ring;

  void post(const memory::allocation& a) noexcept {
    const std::uint64_t n = count.load(std::memory_order_relaxed);
    place& p = ring[n % kept];
    p.base.store(a.base, std::memory_order_release);
    p.generation.store(a.generation, std::memory_order_release);
    count.store(n + 1, std::memory_order_release);
  }

  /// Closes what `process`, whose ring this is, has posted since `seen`.
  void close_ended(std::int32_t process, std::uint64_t& seen) noexcept;
};

}  // namespace telpher::path
