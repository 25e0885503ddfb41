// SPDX-License-Identifier: BSD-3-Clause
// Which way a call on a communicator that spans nodes goes: by a schedule between nodes, or staged.
// Every rank knows the operation and its size, but only its own memory, so a vote decides: one
// small MPI_Iallreduce of the host MPI. The calls of each operation and size class are counted.
// Calls 1, 2, 4, 8, … vote, so programs with host memory pay nothing. From the first vote on in
// which a rank has shown device memory no call depends on what others before it were:
//
// - What runs in host memory runs so without a vote. A rank whose memory or type differs adapts its
//   own buffers (images.hpp, packed.hpp), host memory at all ranks included.
// - Other calls (on the devices, compressed, v-forms) vote each time. One in which not all ranks
//   can take part is staged by all of them; one in which no rank has device memory is the host
//   MPI's.
//
// A vote in which some rank has no memory for it counts for nothing: all ranks answer so, and the
// next call votes again.
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
  site* at;
  terms all;
  coding how;
  std::uint64_t bytes;  // of the longest vector
};

/// Stands for any size.
constexpr std::uint64_t any_size = ~std::uint64_t{0} - 1;

/// Whether calls of so many bytes can go so at all. Cheap: for every call of every program.
bool worthwhile(operation what, std::uint64_t bytes) noexcept;

/// Whether calls of some operation and size can.
bool any_worthwhile() noexcept;

/// No intercommunicator, nor one within a node.
bool spans_nodes(MPI_Comm comm) noexcept;

/// The vote on a blocking call for which it is worthwhile, `bytes` long. not_supported, at all
/// ranks: stage it. Another error, at all ranks: nothing has begun. Collective at the calls that
/// vote.
result<agreed> agree(const char* name, MPI_Comm comm, const exchange::arguments& a,
                     std::uint64_t bytes) noexcept;

/// The same for a persistent collective, whatever was voted before. Collective.
result<agreed> agree_on_request(const char* name, MPI_Comm comm, const exchange::arguments& a,
                                std::uint64_t bytes) noexcept;

/// All ranks have agreed to run there: on the devices, if that is for them. Collective.
void equip(room& r, const agreed& way, const memory::place& device) noexcept;

}  // namespace telpher::coll::between
