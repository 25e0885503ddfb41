// SPDX-License-Identifier: BSD-3-Clause
// Host memory for bookkeeping when the system has none left. Messages and collectives that are
// under way need small pieces of it in places where nobody could hear of an error, and where a rank
// that gives up would leave the others waiting. So the library's operator new (not the program's)
// takes them from a reserve when malloc fails, and what would begin new work asks first:
//   - while much of the reserve is in use and malloc still fails, a call that starts a message is
//     refused with MPI_ERR_NO_MEM, and a collective is left to the host MPI;
//   - what has begun goes on with the rest of the reserve, and gives all back as it ends.
// Payloads are not taken from here: buffers, and new (std::nothrow), fail as they always did, and
// their callers have an answer to that.
#pragma once

#include <atomic>
#include <cstddef>

namespace telpher::host_mpi {

namespace reserve {
constexpr std::size_t bytes = 4u << 20;      // never touched while malloc has memory
constexpr std::size_t low_from = bytes / 4;  // in use: the rest is for what is under way
inline std::atomic<std::size_t> in_use{0};
}  // namespace reserve

/// Whether malloc has come back meanwhile.
[[gnu::cold, gnu::noinline]] bool malloc_fails() noexcept;

/// Nothing new should begin.
inline bool memory_is_short() noexcept {
  return reserve::in_use.load(std::memory_order_relaxed) >= reserve::low_from && malloc_fails();
}

}  // namespace telpher::host_mpi
