// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a communicator that spans nodes say together before a call begins. A rank that
// has no memory for its part says so here: then no rank begins, and all of them answer alike.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "host_mpi/host_mpi.hpp"
#include "host_mpi/reserve.hpp"

namespace telpher::coll::between {

/// Does `work`. False: there is not enough memory for it. It takes none from the reserve
/// (host_mpi/reserve.hpp), which is for work that can no longer be refused.
template <class Work>
bool has_memory_for(const Work& work) noexcept {
  const host_mpi::without_reserve strictly;
  try {
    work();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// The most values of one vote.
constexpr std::size_t most_voted = 20;

/// Collective: the least of each value over all ranks. False if the host MPI fails. It polls
/// instead of blocking in the host MPI, so that the wait has a bound (TELPHER_WAIT_TIMEOUT) when a
/// node is lost.
bool least(MPI_Comm comm, std::int64_t* values, std::size_t count) noexcept;
template <std::size_t N>
bool least(MPI_Comm comm, std::array<std::int64_t, N>& values) noexcept {
  static_assert(N <= most_voted);
  return least(comm, values.data(), N);
}

/// Collective: whether all say so.
bool all_say(MPI_Comm comm, bool mine) noexcept;

}  // namespace telpher::coll::between
