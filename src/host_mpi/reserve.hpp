// SPDX-License-Identifier: BSD-3-Clause
// A reserve of host memory for bookkeeping, for the time when malloc fails. Messages and
// collectives in flight need small pieces of memory in places that cannot report an error, and a
// rank that gave up there would leave the others waiting. So the library's operator new (not the
// program's) takes memory from the reserve when malloc fails. Work that has not begun checks first:
//   - While much of the reserve is in use and malloc still fails, a call that starts a message or
//     initiates a collective is refused with MPI_ERR_NO_MEM; a blocking collective is staged.
//   - Work in flight continues with the rest of the reserve and gives all of it back when it ends.
//   - What all ranks can still refuse together is prepared without it (without_reserve).
// Payloads never come from the reserve: buffers, and new (std::nothrow), fail as usual, and their
// callers handle that.
#pragma once

#include <atomic>
#include <cstddef>

namespace telpher::host_mpi {

namespace reserve {
constexpr std::size_t bytes = 4u << 20;      // its pages are untouched while malloc works
constexpr std::size_t low_from = bytes / 4;  // in use; the rest is for work in flight
inline std::atomic<std::size_t> in_use{0};
}  // namespace reserve

/// While one lives, its thread gets nothing from the reserve: where malloc fails, new throws.
class without_reserve {
 public:
  without_reserve() noexcept;
  without_reserve(const without_reserve&) = delete;
  without_reserve& operator=(const without_reserve&) = delete;
  ~without_reserve();
};

/// Whether malloc still fails.
[[gnu::cold, gnu::noinline]] bool malloc_fails() noexcept;

/// True if no new work should begin.
inline bool memory_is_short() noexcept {
  return reserve::in_use.load(std::memory_order_relaxed) >= reserve::low_from && malloc_fails();
}

}  // namespace telpher::host_mpi
