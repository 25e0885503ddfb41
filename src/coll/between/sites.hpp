// SPDX-License-Identifier: BSD-3-Clause
// What is kept for each communicator that spans nodes, and for the persistent collectives on it:
// its nodes, the results of its votes, and the room in which its schedules run. Some functions wait
// for the other ranks (making a room, giving it back): all ranks call these in the same order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "coll/between/crossing.hpp"
#include "coll/between/plans.hpp"
#include "coll/between/room.hpp"
#include "coll/between/trials.hpp"
#include "coll/explanations.hpp"
#include "coll/handover.hpp"
#include "coll/reduction.hpp"
#include "host_mpi/lifetime.hpp"

namespace telpher::coll::between {

/// What is kept for a communicator, or for one persistent collective on it (`channel`). Ranks may
/// start persistent requests in any order, so the rounds of each need a room of their own. The
/// first call in which all ranks can take part makes the room.
struct site {
  /// May throw std::bad_alloc.
  explicit site(MPI_Comm of, bool for_one_request = false)
      : comm(of), life(of), channel(for_one_request) {}
  site(const site&) = delete;
  site& operator=(const site&) = delete;
  ~site();

  /// Waits until no non-blocking call uses the room or waits for it; if `all`, also until none is
  /// with the host MPI.
  void settle(const char* what, bool all) noexcept;

  struct record {
    std::uint64_t calls = 0;
    bool devices = false;  // some rank had device memory when ranks asked each other
    bool coded = false;    // compression was asked for in the last vote
    /// Set if the last vote chose one kernel a rank: its reduction.
    std::optional<reduction> in_kernels;
    trials tried{handover::calls_of_each()};
  };
  MPI_Comm comm;                  // none: a channel that no other request may take over
  const host_mpi::lifetime life;  // the communicator's; after it the site is unused, to shut_down()
  const bool channel;
  bool in_use = false;                     // a channel: by a request that this rank has not freed
  bool refused = false;                    // for good, at all ranks
  int refusals = 0;                        // of a room, at all ranks
  static constexpr int most_refusals = 3;  // after so many nobody tries again
  bool met = false;                        // the ranks have told each other their nodes
  shape among;
  std::unique_ptr<between::room> room;
  kept_plans plans;
  /// Of non-blocking calls, by operation. They change only when a call comes to the queue's head,
  /// and by answers that all ranks get: so they are the same at all ranks.
  std::array<record, operation_count> deferred{};
  crossing_queue crossings;                  // non-blocking calls in the room
  std::map<std::uint32_t, record> of_calls;  // by operation and size class
  explanations explained{" of several nodes"};
};

/// The communicator's own. May throw std::bad_alloc.
site& site_of(MPI_Comm comm);
/// After the communicator has been given an info, at all ranks: what earlier votes came to may not
/// hold any more.
void vote_again(MPI_Comm comm) noexcept;
/// Removes a site that has no room, as if it had never been made.
void forget_site(site& s) noexcept;

/// Collective, when the program makes the communicator. Its non-blocking calls need a communicator
/// of Telpher's for their yes and no (crossing.hpp), already for the first of them; this makes it.
/// Does nothing where no call can go between nodes.
void prepare(MPI_Comm comm) noexcept;

/// Collective: makes the room with the first call that wants it. False at all ranks alike.
bool has_room(site& s) noexcept;

/// The communicator's site if it has a room, made or not, without asking anybody. The same at all
/// ranks.
site* begun_site(MPI_Comm comm) noexcept;

/// A channel with a room for a persistent collective, which no rank uses. Null, at all ranks alike:
/// there are as many as may be, or no room can be made. Collective.
site* take_channel(site& of) noexcept;

/// Collective, before the communicator is freed.
void forget(MPI_Comm comm) noexcept;
/// Collective over the job, after the exchange's own: no rank is in a collective any more.
void shut_down() noexcept;

}  // namespace telpher::coll::between
