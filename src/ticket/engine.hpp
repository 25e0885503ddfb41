// SPDX-License-Identifier: BSD-3-Clause
// What this rank has under way, and the one function that moves it: progress(). All of ticket/ and
// path/ runs under the engine's lock, which is only taken for real in MPI_THREAD_MULTIPLE.
//
// Progress rules:
// - A call that waits polls progress() together with what it waits for (wait_until).
// - A call that may block inside the host MPI first calls detach(): sends whose receiver needs our
//   help are buffered, receives that are on their way are finished, and so is what workers have
//   agreed with peers. While it blocks, `blocked` in
//   our segment tells senders of this node to buffer what they send to us.
// - So no rank ever waits for a rank that cannot make progress, with memory for the buffered bytes
//   as the only bound.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/log.hpp"
#include "base/thread_local.hpp"
#include "base/trace.hpp"
#include "host_mpi/job.hpp"
#include "path/neighbours.hpp"
#include "path/segment.hpp"
#include "ticket/bell.hpp"
#include "ticket/offer.hpp"
#include "ticket/receive.hpp"
#include "ticket/ticket.hpp"
#include "ticket/written_ranges.hpp"

namespace telpher::ticket {

/// The engine's lock, or nothing where one thread alone calls. It also knows whether Telpher is at
/// work in this thread: what the host MPI calls back asks (mpi/handles.hpp).
class held_lock : public std::unique_lock<std::recursive_mutex> {
 public:
  held_lock() noexcept { enter(); }
  explicit held_lock(std::recursive_mutex& m) : std::unique_lock<std::recursive_mutex>(m) { enter(); }
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  ~held_lock() { --depth_; }

  static bool inside() noexcept { return depth_ > 0; }
  /// For who calls back: how often since Telpher was last at work here.
  static unsigned& passed_by() noexcept { return passed_by_; }

 private:
  static void enter() noexcept {
    ++depth_;
    passed_by_ = 0;
  }
  static inline constinit thread_local TELPHER_NEAR_TLS unsigned depth_ = 0;
  static inline constinit thread_local TELPHER_NEAR_TLS unsigned passed_by_ = 0;
};

std::uint64_t now_ns() noexcept;

/// Work of the layers above that moves with the messages (collectives under way). All under the
/// engine's lock.
class worker {
 public:
  virtual ~worker() = default;
  /// Does what can be done now. False: nothing is left, the engine forgets the worker.
  virtual bool advance() noexcept = 0;
  /// This rank is about to block in the host MPI: true when no peer needs its help any more.
  virtual bool detach() noexcept = 0;
  virtual void describe(char* text, std::size_t size) const noexcept = 0;
};

class engine {
 public:
  /// Joins the job; `threaded` is true for MPI_THREAD_MULTIPLE.
  status start(bool threaded) noexcept;
  /// Collective. Completes what is under way and gives everything back.
  void stop() noexcept;

  const host_mpi::job& job() const noexcept { return job_; }
  bool threaded() const noexcept { return threaded_; }
  /// Whether messages below 480 bytes come as tickets too.
  bool small_tickets() const noexcept { return small_tickets_; }
  path::own_segment& own() noexcept { return own_; }
  /// The segment of a rank of this node; empty for others.
  path::segment& peer(int world_rank) noexcept {
    return world_rank == job_.rank ? own_ : peers_[static_cast<std::size_t>(world_rank)];
  }
  bool shares_node(int world_rank) noexcept { return static_cast<bool>(peer(world_rank)); }
  int next_reply_tag() noexcept;

  /// Nothing of ours is under way: a blocking host MPI call may be used as it is.
  bool idle() const noexcept {
    return offers_.empty() && posted_.empty() && arriving() == 0 && workers_.empty();
  }
  std::size_t outstanding() const noexcept { return offers_.size() + posted_.size() + arriving(); }

  /// Calls the worker from now on, until it has nothing left to do.
  void employ(worker& w) noexcept;
  void dismiss(worker& w) noexcept { std::erase(workers_, &w); }

  void add(std::unique_ptr<offer> o) noexcept;
  /// The program does not look at an offer any more.
  void release(offer& o) noexcept;
  /// See offer::hasten.
  void hasten(offer& o) noexcept;
  /// A receive whose message may be a ticket: watched until it has settled.
  void watch(receive& r) noexcept;
  /// Asks for the message of a watched receive now, out of turn. `last`: see receive::check.
  void check(receive& r, bool last) noexcept;
  /// Ends the watch, whatever the phase.
  void forget(receive& r) noexcept;
  /// Where receives that have not settled write in host memory.
  written_ranges& written() noexcept { return written_; }
  /// Whether a receive may be posted where another one writes: no ticket can come for it then,
  /// until own().leave_shared_place().
  bool enter_shared_place() noexcept { return all_ring_here_ && own_.enter_shared_place(); }
  /// The CPU is about to write there: reads the tickets that lie there.
  void read_tickets_in(const written_ranges::range& r) noexcept;
  /// A receive that moves on has answered a sender of this node: its bell is rung once for all the
  /// answers of a pass, because the bell's cache line travels with each ring.
  void owe_ring(int world_rank) noexcept;
  void saw_ticket() noexcept { ++tickets_seen_; }
  /// When a receiver of this node last answered any of our messages.
  std::uint64_t last_answer_ns() const noexcept { return last_answer_ns_; }
  /// Off the node: says that a ticket waits; tells and remembers when a rank last answered one.
  void ring(int world_rank) noexcept { bell_.ring(world_rank); }
  void note_answer(int world_rank) noexcept;
  std::uint64_t last_answer_of(int world_rank) const noexcept {
    return answered_ns_[static_cast<std::size_t>(world_rank)];
  }
  /// Of the messages that are copied out although their receiver may be about to come there is one
  /// at a time.
  bool copies_ahead() const noexcept { return copied_ahead_ != nullptr; }
  void note_copied_ahead(const offer& o) noexcept { copied_ahead_ = &o; }
  void note_copied(const offer& o) noexcept {
    if (copied_ahead_ == &o) copied_ahead_ = nullptr;
  }
  /// Whether a rank of this node has taken our messages by itself so far: likely, not certain, of
  /// the next one. One that asked for our help once may do so again (it may have a device that
  /// cannot open our memory), and counts as one that does not.
  bool pulls(int world_rank) const noexcept {
    return takes_[static_cast<std::size_t>(world_rank)] == taking::by_itself;
  }
  void note_pull(int world_rank) noexcept {
    taking& t = takes_[static_cast<std::size_t>(world_rank)];
    if (t == taking::unknown) t = taking::by_itself;
  }
  void note_help(int world_rank) noexcept {
    takes_[static_cast<std::size_t>(world_rank)] = taking::with_help;
  }

  /// Under the lock: does what can be done now. `waiting`: it is called again at once, so that what
  /// comes meanwhile may be started together.
  void progress(bool waiting = false) noexcept;
  /// Under the lock: makes the host MPI move its own messages, and hears the bell between nodes.
  void listen() noexcept;
  /// Ranks of this node share processors: whoever waits yields at once.
  bool crowded() const noexcept { return crowded_; }
  /// Collective over the ranks of this node that are in the job: waits for all of them, and keeps
  /// everything in motion meanwhile. Through shared memory: a host MPI's barrier of more ranks than
  /// processors takes a time slice of each.
  void meet_node() noexcept;
  /// Makes this rank ready to block; the lock is released between polls.
  void detach(held_lock& held) noexcept;
  /// Before a call of the program returns: while another thread is blocked in the host MPI the
  /// rank is ready to block all the time, since that thread may be the only one that comes back.
  void leave(held_lock& held) noexcept;
  /// Collective, in MPI_Finalize: moves messages until no rank can receive or send one any more,
  /// and forgets those that have no receive. `meanwhile` is called between polls.
  void end_messages(held_lock& held, void (*meanwhile)()) noexcept;

  /// Takes the lock if several threads may call. Recursive: an error handler of the program may
  /// call MPI again.
  held_lock lock() noexcept { return threaded_ ? held_lock(mutex_) : held_lock(); }

  /// Polls until `done()`; the lock must be held and is released between polls. `what` names the
  /// call in the stall report.
  template <class Done>
  void wait_until(held_lock& held, const char* what, Done&& done) noexcept {
    for (waiter w(what); !done();) {
      progress(true);
      if (done()) return;
      if (held) held.unlock();
      w.pause(*this);
      if (threaded_) held.lock();
    }
  }

  /// Says on the log what is under way; every message in turn at the level `details`.
  void report(const char* what, double seconds, log::level details) noexcept;
  /// Ends the job with a diagnosis.
  [[noreturn]] void give_up(const char* what, double seconds) noexcept;

 private:
  enum class taking : std::uint8_t { unknown, by_itself, with_help };

  // How a waiting thread spends its time: spins, then yields; reports a stall.
  class waiter {
   public:
    explicit waiter(const char* what) noexcept : what_(what) {}
    ~waiter() {
      if (traced_since_ns_ != 0) [[unlikely]]
        trace::record("wait", what_, traced_since_ns_, now_ns(), trace::facts());
    }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    void pause(engine& e) noexcept;

   private:
    const char* what_;
    std::uint32_t polls_ = 0;
    std::uint64_t since_ns_ = 0;
    std::uint64_t traced_since_ns_ = 0;
    double next_report_us_ = 0;
  };

  void advance_offers() noexcept;
  /// True if messages were found.
  bool scan() noexcept;
  void start_moving(receive& r) noexcept;
  std::size_t arriving() const noexcept {
    return copied_.size() + moving_.size() + unpacking_.size();
  }
  void advance_moving() noexcept;
  void advance(linked_list<receive>& moving, std::size_t most_quiet) noexcept;
  void advance_workers() noexcept;
  void take_unasked() noexcept;
  void wait_for_all(held_lock& held, void (*meanwhile)()) noexcept;
  bool patience_is_over(std::uint64_t now) const noexcept;
  void drop(offer& o) noexcept;

  host_mpi::job job_;
  bool threaded_ = false;
  bool small_tickets_ = false;
  bool crowded_ = false;
  bool all_ring_here_ = false;  // every ticket for this rank is announced in its own segment
  std::recursive_mutex mutex_;
  path::own_segment own_;
  std::vector<path::segment> peers_;
  std::unique_ptr<path::neighbours> neighbours_;
  linked_list<offer> offers_;  // owned
  linked_list<receive> posted_;
  linked_list<receive> copied_;     // on their way, in order (transfer::in_order)
  linked_list<receive> moving_;     // on their way otherwise
  linked_list<receive> unpacking_;  // see receive::unpacking
  struct owed_rings {
    int world_rank;
    std::uint64_t count;
  };
  std::vector<owed_rings> owed_;
  written_ranges written_;
  std::vector<worker*> workers_;
  std::vector<taking> takes_;
  std::vector<std::uint64_t> answered_ns_;
  bell bell_;
  std::uint32_t full_scans_ = 0;  // still to be made for a bell that was heard
  std::uint64_t tickets_seen_ = 0;
  std::uint64_t last_rung_ = 0;
  std::uint64_t last_answers_ = 0;
  std::uint64_t last_answer_ns_ = 0;
  bool busy_offers_ = false;
  const offer* copied_ahead_ = nullptr;
  std::uint64_t passes_ = 0;  // of progress(), see there
  std::uint32_t polls_ = 0;
  int reply_tag_ = 0;
};

/// The one engine of this process; it outlives static destructors.
inline engine& the_engine() noexcept {
  static engine* const one = new engine;
  return *one;
}

/// A call of the program in the engine; `held` is the engine's lock. See engine::leave.
struct visit {
  held_lock held = the_engine().lock();
  ~visit() { the_engine().leave(held); }
};

}  // namespace telpher::ticket
