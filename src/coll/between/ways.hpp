// SPDX-License-Identifier: BSD-3-Clause
// Which way a call on a communicator that spans nodes goes: by a schedule between nodes, or staged.
// Every rank knows the operation and its size, but only its own memory, so a vote decides: one
// small MPI_Iallreduce of the host MPI. The calls of each operation and size class are counted.
// Calls 1, 2, 4, 8, … vote, so a program with host memory pays for log2(n) votes in n calls. Once
// some rank has shown device memory in a vote, later calls of that operation and size class go:
//
// - Small calls whose schedule runs in host memory: without a vote, once the room is made. A rank
//   whose memory or type differs adapts its own buffers (images.hpp, exchange/packed_copies.hpp).
//   This holds also where all ranks have host memory.
// - Calls whose last vote came to one kernel at each rank: likewise, with copies on the device. A
//   launch context is always to be had. Kernels that ranks of one device run since then pause for
//   each other, until the next vote sees that they share it.
// - Other calls (longer, compressed, allgatherv, alltoallv): a vote each time. If some rank cannot
//   take part, all ranks stage the call. If no rank has device memory, it is the host MPI's.
//
// Where it is not known which way is the faster, the first calls that vote go both ways in turn
// (trials.hpp). Once staging has been found to be faster, a class votes no more.
//
// A vote in which some rank has no memory for it counts for nothing: all ranks return that error,
// and the next call votes again.
//
// What a rank decides here without a vote depends only on the operation, its size, what earlier
// votes came to, and settings that are the same at all ranks.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "codec/choice.hpp"
#include "coll/between/problems.hpp"
#include "coll/between/sites.hpp"

namespace telpher::coll::between {

/// A call that runs between nodes, and what all ranks know of it.
struct agreed {
  site* at = nullptr;
  terms all{};
  coding how{};
  std::uint64_t bytes = 0;  // of the longest vector
  copies packed{};          // of buffers that have gaps at this rank
  bool in_kernel = false;   // one at each rank
  trials* tried = nullptr;  // where both ways are: gets the time that the call takes
  bool voted = true;        // so all ranks have begun it
  bool staged = false;      // to be: then there is nothing else here but `tried`
};

/// Stands for any size.
constexpr std::uint64_t any_size = ~std::uint64_t{0} - 1;

/// Whether blocking calls of so many bytes can go between nodes at all. Cheap, because every
/// collective of every program asks.
bool worthwhile(operation what, std::uint64_t bytes) noexcept;

/// Whether non-blocking and persistent calls do, which are not tried: by the table, or, if `s` is
/// given, as its blocking calls have been seen to be faster. The same at all ranks.
bool goes_untried(operation what, std::uint64_t bytes, const site* s) noexcept;

/// Whether blocking calls of so many bytes run in host memory whatever memory and types a rank has:
/// each fits its own buffers to the schedule. They are read without gaps.
bool adapts(operation what, std::uint64_t bytes) noexcept;

/// Whether calls of any operation and size can.
bool any_worthwhile() noexcept;

/// Whether the communicator may span nodes: an intracommunicator of ranks of the job that the
/// exchange of one node does not serve.
bool spans_nodes(MPI_Comm comm) noexcept;

/// The vote on a blocking call for which it is worthwhile, `bytes` long. `a` becomes the same call
/// on packed copies where it has gaps and votes. not_supported, at all ranks: stage it. Another
/// error, at all ranks: nothing has begun. Collective at the calls that vote.
result<agreed> agree(const char* name, MPI_Comm comm, exchange::arguments& a,
                     std::uint64_t bytes) noexcept;

/// The same for a persistent collective. It votes each time, unless the site is refused for good.
/// Collective.
result<agreed> agree_on_request(const char* name, MPI_Comm comm, const exchange::arguments& a,
                                std::uint64_t bytes) noexcept;

/// After all ranks have agreed: equips the room if the call runs on the devices. Collective.
void equip(room& r, const agreed& way, const memory::place& device) noexcept;

}  // namespace telpher::coll::between
