// SPDX-License-Identifier: BSD-3-Clause
// How a process tells its peers on the node that some of its allocations have ended. Peers may have
// these open. The last ones stand in a ring in the process's segment (memory/allocations.hpp has
// the registry).
//
// Only the owner writes, under the registry's lock: first the place in the ring, then `count`
// (release). A peer reads `count` (acquire), then each place since its last look, and after each
// place `count` again. If the owner is a whole ring further on by then, the place may hold words of
// two endings. Then the peer closes every mapping of the owner's memory that it does not use. It
// does the same if it is a whole ring late from the start. The words of a place are stored with
// release and read with acquire order. So a peer that reads a word of a later ending also sees the
// `count` that was stored before that word, and thus detects the mixture. A segment begins with
// zeros.
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
