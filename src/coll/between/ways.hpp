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
// What a rank decides here without a vote depends only on the operation, its size, what earlier
// votes came to, and settings that are the same at all ranks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codec/choice.hpp"
#include "coll/between/crossing.hpp"
#include "coll/between/plans.hpp"
#include "coll/between/problems.hpp"
#include "coll/between/room.hpp"

namespace telpher::coll::between {

/// What is kept for a communicator, or for a persistent collective on it (`channel`), whose rounds
/// need a room of their own: ranks may start such requests in any order. The room is made at the
/// first vote in which all are able.
struct site {
  explicit site(MPI_Comm of, bool for_one_request = false) noexcept
      : comm(of), channel(for_one_request) {}
  site(const site&) = delete;
  site& operator=(const site&) = delete;
  ~site();

  /// Until no non-blocking call uses the room; or is with the host MPI either, if `all`.
  void settle(const char* what, bool all) noexcept;

  struct record {
    std::uint64_t calls = 0;
    bool devices = false;  // some rank had device memory in a vote
    bool coded = false;    // compression was asked for in the last one
  };
  MPI_Comm comm;  // none: of a channel that no other request may take over
  const bool channel;
  bool in_use = false;   // a channel: by a request that this rank has not freed
  bool refused = false;  // for good, at all ranks
  bool met = false;      // the ranks have told each other their nodes
  shape among;
  std::unique_ptr<between::room> room;
  kept_plans plans;
  crossing_queue crossings;                  // non-blocking calls in the room
  std::map<std::uint32_t, record> of_calls;  // by operation and size class
  std::vector<std::string> explained;
};

/// A call that runs between nodes, and what all ranks know of it.
struct agreed {
  site* at;
  terms all;
  coding how;
  std::uint64_t bytes;  // of the longest vector
};

/// Whether a setting names an algorithm between nodes for it.
bool asked_for(operation what) noexcept;

/// Stands for any size.
constexpr std::uint64_t any_size = ~std::uint64_t{0} - 1;

/// Whether calls of so many bytes can go so at all. Cheap: for every call of every program.
bool worthwhile(operation what, std::uint64_t bytes) noexcept;

/// No intercommunicator, nor one within a node.
bool spans_nodes(MPI_Comm comm) noexcept;

/// The vote on a blocking call for which it is worthwhile, `bytes` long; none, at all ranks: stage
/// it. Collective at the calls that vote.
std::optional<agreed> agree(const char* name, MPI_Comm comm, const exchange::arguments& a,
                            std::uint64_t bytes) noexcept;

/// The same for a persistent collective, whatever was voted before. Collective.
std::optional<agreed> agree_on_request(const char* name, MPI_Comm comm,
                                       const exchange::arguments& a, std::uint64_t bytes) noexcept;
/// A channel for it with a room, which no rank uses; null, at all ranks alike: there are as many as
/// may be, or no room can be made. Collective.
site* take_channel(const agreed& way, const memory::place& device) noexcept;

/// The communicator's site if it has a room, without asking anybody. The same at all ranks.
site* made_site(MPI_Comm comm) noexcept;

/// Collective, before the communicator is freed.
void forget(MPI_Comm comm) noexcept;
/// Collective over the job, after the exchange's own: no rank is in a collective any more.
void shut_down() noexcept;

}  // namespace telpher::coll::between
