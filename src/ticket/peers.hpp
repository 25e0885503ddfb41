// SPDX-License-Identifier: BSD-3-Clause
// The ranks of the job as messages see them: the shared segments of this node, what each peer has
// done with our messages so far, and how a peer is told that something waits for it.
// Under the progress lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/clock.hpp"
#include "base/lasting.hpp"
#include "host_mpi/job.hpp"
#include "memory/held_streams.hpp"
#include "path/neighbours.hpp"
#include "path/path.hpp"
#include "path/segment.hpp"
#include "ticket/bell.hpp"

namespace telpher::ticket {

class peer_table {
 public:
  /// Collective. Finds the ranks of the job, without the progress lock: other threads may use what
  /// was made before (host_mpi::job::waits). Keeps this rank's segment, if it has one.
  status find(MPI_Comm world, host_mpi::job& found) noexcept;
  /// The same for a process that waits for its job.
  status wait_for_job(host_mpi::job& found) noexcept;
  /// From now on this is the job. If job().any_device is false then, there is nothing to do for
  /// Telpher.
  void enter(host_mpi::job&& found) noexcept;
  /// Opens the segments of this node, after all their owners have laid them out.
  void open() noexcept;
  /// Of a rank that has waited for its job it is laid out already.
  void lay_out_own() noexcept;
  /// Collective: takes the bells that were rung and not heard.
  void stop_bell() noexcept { bell_.stop(); }
  /// Collective. Leaves the job and gives the segments back.
  void leave() noexcept;

  const host_mpi::job& job() const noexcept { return job_; }
  path::own_segment& own() noexcept { return own_; }
  const path::own_segment& own() const noexcept { return own_; }
  /// The segment of a rank of this node; empty for others.
  path::segment& segment_of(int world_rank) noexcept {
    return world_rank == job_.rank ? own_ : segments_[at(world_rank)];
  }
  bool shares_node(int world_rank) noexcept { return static_cast<bool>(segment_of(world_rank)); }
  /// Its place among the ranks of this node, in their order; most_inboxes if it is none of them.
  std::size_t place_on_node(int world_rank) const noexcept;
  /// Whether messages to a rank use the paths within a node. Not if TELPHER_PATH forces a path
  /// between nodes.
  bool near(int world_rank) noexcept {
    return shares_node(world_rank) && !path::between_nodes(path::forced());
  }
  /// Whether all ranks are near. Then every sender of a ticket rings in this rank's segment.
  bool all_near() const noexcept { return all_near_; }
  /// How many slots a rank may use.
  std::uint32_t slots() const noexcept { return slots_; }
  /// Whether messages below 480 bytes come as tickets too.
  bool small_tickets() const noexcept { return small_tickets_; }
  /// Ranks of this node share processors: whoever waits yields at once.
  bool crowded() const noexcept { return crowded_; }
  /// A tag for the answers and blocks of a message to that rank of another node, until it is given
  /// back. Tags come again, because there are only so many: not one in use, and as late as can be,
  /// as the peer may not have received all that was sent with it. May throw std::bad_alloc.
  int take_reply_tag(int world_rank);
  void give_reply_tag(int world_rank, int tag) noexcept;

  /// This rank is inside a host MPI call that we cannot poll.
  bool blocked_here() const noexcept {
    return own_.header().blocked.load(std::memory_order_relaxed) != 0;
  }
  bool blocked(int world_rank) noexcept {
    return segment_of(world_rank).header().blocked.load(std::memory_order_acquire) != 0;
  }
  /// Says that this rank has come to a meeting of the node's ranks; the meeting's number.
  std::uint32_t arrive() noexcept;
  /// Whether all ranks of the node have come to it.
  bool met(std::uint32_t meeting) noexcept;

  // --- between nodes ---
  /// Says that a ticket waits.
  void ring(int world_rank) noexcept { bell_.ring(world_rank); }
  /// Makes the host MPI move its own messages, and hears the bell.
  void listen() noexcept {
    bell_.listen();
    tidy_when_due();
  }
  int bells_heard() const noexcept { return bell_.heard(); }
  /// A rank has answered a ticket.
  void note_answer(int world_rank) noexcept { answered_ns_[at(world_rank)] = now_ns(); }
  std::uint64_t last_answer_of(int world_rank) const noexcept {
    return answered_ns_[at(world_rank)];
  }

  // --- on the node ---
  /// If a look is due: finds which allocations of this process and of peers have ended, and closes
  /// what is kept of them. Under the progress lock. Not in calls that enqueue (held_streams.hpp).
  void tidy_when_due() noexcept {
    if (memory::allocations::instance().due()) [[unlikely]]
      tidy();
    memory::held_streams::instance().make_calls();
  }
  /// Whether a rank has got our messages without our help so far. It will probably, not certainly,
  /// do so with the next one. A rank that asked for help once may ask again, because its device may
  /// be unable to open our memory. So this is false from then on.
  bool pulls(int world_rank) const noexcept { return takes_[at(world_rank)] == taking::by_itself; }
  void note_pull(int world_rank) noexcept {
    taking& t = takes_[at(world_rank)];
    if (t == taking::unknown) t = taking::by_itself;
  }
  void note_help(int world_rank) noexcept { takes_[at(world_rank)] = taking::with_help; }

 private:
  void tidy() noexcept;
  enum class taking : std::uint8_t { unknown, by_itself, with_help };
  static std::size_t at(int world_rank) noexcept { return static_cast<std::size_t>(world_rank); }
  /// Works before the segments are laid out. Until then this counter is the only word that may be
  /// read. It is zero from the start.
  std::atomic<std::uint32_t>& met_of(int world_rank) noexcept {
    return reinterpret_cast<path::segment_header*>(job_.segment(world_rank))->met;
  }

  host_mpi::job job_;
  path::own_segment own_;
  std::vector<path::segment> segments_;
  std::vector<std::uint64_t> endings_seen_;  // of each rank's (path/endings.hpp)
  std::unique_ptr<path::neighbours> neighbours_;
  std::vector<taking> takes_;
  std::vector<std::uint64_t> answered_ns_;
  bell bell_;
  bool small_tickets_ = false;
  bool crowded_ = false;
  bool all_near_ = false;
  struct reply_tags {
    int last = 0;
    std::set<int> in_use;
  };
  std::map<int, reply_tags> reply_tags_;  // by world rank
  std::uint32_t slots_ = 0;
};

// The process has one table, as it has one progress engine and one list of each kind.
// ticket::start() makes them (job_life.hpp).
inline made_at_start<peer_table> the_peers;
inline peer_table& peers() noexcept {
  return *the_peers;
}
inline const host_mpi::job& job() noexcept {
  return peers().job();
}

}  // namespace telpher::ticket
