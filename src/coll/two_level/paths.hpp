// SPDX-License-Identifier: BSD-3-Clause
// Which way a call on a communicator that spans nodes goes: in two levels, or staged whole. Every
// rank knows the operation and its size, but only its own memory. So the calls of each operation
// and size class are counted, and calls 1, 2, 4, 8, … hold a vote: in two levels if all ranks have
// device memory. The answer is in force until the next vote. In between nobody asks: a rank whose
// memory is of another kind adapts (phases.hpp), so that no mixture can hang.
//
// What a rank decides here without a vote depends only on the operation, its size and settings that
// are the same at all ranks.
#pragma once

#include <cstdint>

#include "coll/reduction.hpp"
#include "coll/schedule/problem.hpp"
#include "coll/two_level/team.hpp"

namespace telpher::coll::two_level {

/// A call as all ranks know it, and the own buffers that count.
struct call_facts {
  const char* name;
  operation what;
  std::uint64_t bytes;  // of the longest vector; the same at all ranks
  MPI_Comm comm;
  memory_ref input, output;  // null where the rank has none
  bool contiguous = true;    // the bytes of this rank's buffers have no gaps
  bool own_bytes = false;    // `bytes` are this rank's: calls of all sizes take one way
  bool prepared = true;      // this rank's device can do what the call needs
};

/// Whether calls on it can go in two levels: no intercommunicator, nor one within a node.
bool spans_nodes(MPI_Comm comm) noexcept;

/// Stands for the bytes of calls of which no rank knows the size.
constexpr std::uint64_t any_size = ~std::uint64_t{0} - 1;

/// Whether calls of this size can go in two levels at all. Cheap: for every call of every program.
bool worthwhile(operation what, std::uint64_t bytes) noexcept;

/// The team by which the call runs; null: stage it. Collective at the calls that vote.
team* team_for(const call_facts& call) noexcept;

/// The team that a vote has made for the communicator, without asking anybody; null: none. The same
/// at all ranks.
team* made_team(MPI_Comm comm) noexcept;

/// Whether all that counts of this rank's buffers is device memory of one device without gaps.
bool on_one_device(const call_facts& call) noexcept;
/// Whether this rank's device has the kernel; true where it has no device in the call.
bool can_reduce(const call_facts& call, const reduction& by) noexcept;
/// Collective over `comm`: the number that all ranks say, or 0 where they differ.
int same_everywhere(MPI_Comm comm, int number) noexcept;
/// Collective over `comm`: the largest number that a rank says; negative: the host MPI failed.
std::int64_t largest_everywhere(MPI_Comm comm, std::int64_t number) noexcept;

/// Collective, before the communicator is freed.
void forget(MPI_Comm comm) noexcept;
/// Collective over the job, after the exchange's own: no rank is in a collective any more.
void shut_down() noexcept;

}  // namespace telpher::coll::two_level
