// SPDX-License-Identifier: BSD-3-Clause
// The progress engine: a list of what this rank has under way (the sends, the receives, each
// communicator's collectives), and the pass that moves it. Each entry is a `worker`. All of ticket/
// and path/ runs under the progress lock. The mutex behind it is taken only with
// MPI_THREAD_MULTIPLE.
//
// - A call that waits makes passes until what it waits for has happened (wait_until).
// - A call that may block inside the host MPI first calls detach(). That buffers sends whose
//   receiver needs our help. It finishes receives whose bytes are on their way, and what
//   collectives have agreed with peers. While the call blocks, `blocked` in our segment tells
//   senders of this node to buffer what they send to us.
// - So no rank waits for a rank that cannot make progress, as long as there is memory for the
//   buffered bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/clock.hpp"
#include "base/linked_list.hpp"
#include "base/log.hpp"
#include "base/pause.hpp"
#include "base/stall_clock.hpp"
#include "base/thread_local.hpp"
#include "base/trace.hpp"
#include "path/copier.hpp"
#include "ticket/peers.hpp"

namespace telpher::ticket {

/// The progress lock. Without MPI_THREAD_MULTIPLE it holds no mutex. It also records that Telpher
/// is at work in this thread. Functions of ours that the host MPI calls back need to know that
/// (mpi/handles.hpp).
class held_lock : public std::unique_lock<std::recursive_mutex> {
 public:
  held_lock() noexcept { enter(); }
  explicit held_lock(std::recursive_mutex& m)
      : std::unique_lock<std::recursive_mutex>(m, std::try_to_lock) {
    if (!owns_lock()) take();
    enter();
  }
  held_lock(const held_lock&) = delete;
  held_lock& operator=(const held_lock&) = delete;
  ~held_lock() { innermost_ = outer_; }

  static bool inside() noexcept { return innermost_ != nullptr; }
  /// Whether a thread waits for it, which one that takes it again and again should let in.
  static bool wanted() noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }
  /// The object that this thread made last, or null. A function that waits deep inside a call
  /// releases the lock through it.
  static held_lock* innermost() noexcept { return innermost_; }
  /// A counter for our function in the host MPI's progress loop: how often it was called in this
  /// thread since Telpher was last at work here.
  static unsigned& passed_by() noexcept { return passed_by_; }

 private:
  void enter() noexcept {
    innermost_ = this;
    passed_by_ = 0;
  }
  // The other thread mostly makes one pass, and to sleep and be woken takes much longer.
  void take() {
    constexpr int looks = 200;
    waiting_.fetch_add(1, std::memory_order_relaxed);
    for (int i = 0; i < looks && !owns_lock(); ++i) {
      relax_processor();
      static_cast<void>(try_lock());
    }
    if (!owns_lock()) lock();
    waiting_.fetch_sub(1, std::memory_order_relaxed);
  }
  static inline constinit std::atomic<int> waiting_{0};
  static inline constinit thread_local TELPHER_NEAR_TLS held_lock* innermost_ = nullptr;
  static inline constinit thread_local TELPHER_NEAR_TLS unsigned passed_by_ = 0;

  held_lock* const outer_ = innermost_;
};

/// One progress pass, while it runs.
struct pass {
  std::uint32_t number;
  bool waiting;  // it is followed by another one at once
  bool rested;   // the rank slept before it
  /// Such a pass looks at more than the doorbells ask for: each 16th pass, and one after a sleep.
  bool thorough() const noexcept { return rested || number % 16 == 0; }
  path::copier::outlook outlook{};  // for the copier; set by the worker that expects messages
};

/// What is under way, for the stall report.
struct tally {
  std::size_t sends = 0;
  std::size_t posted = 0;    // receives
  std::size_t arriving = 0;  // receives
};

class progress_engine;

/// Something under way that passes move on.
class worker : public linked_list<worker>::link {
 public:
  explicit worker(progress_engine& moved_by) noexcept : progress_(moved_by) {}
  virtual ~worker() = default;
  /// First half of a pass: looks for what has come, and asks for copies.
  virtual void find(pass&) noexcept {}
  /// Second half, after the copies have started. False: nothing is left, the worker leaves the
  /// list.
  virtual bool advance() noexcept = 0;
  /// This rank is about to block in the host MPI: true when no peer needs its help any more.
  virtual bool detach() noexcept = 0;
  virtual void count(tally&) const noexcept {}
  /// Says on the log what is under way.
  virtual void report(log::level at) const noexcept = 0;

 protected:
  /// For destructors: takes the lock and leaves the list.
  inline void retire() noexcept;

  progress_engine& progress_;
};

class progress_engine {
 public:
  explicit progress_engine(peer_table& peers) noexcept : peers_(peers) {}
  /// `threaded` is true for MPI_THREAD_MULTIPLE.
  void start(bool threaded) noexcept;

  bool threaded() const noexcept { return threaded_; }
  /// Whether waits may sleep between polls, so that the rank that is waited for gets the processor.
  void nap(bool naps) noexcept { naps_ = naps; }
  /// Takes the lock if several threads may call. Recursive: an error handler of the program may
  /// call MPI again.
  held_lock lock() noexcept { return threaded_ ? held_lock(mutex_) : held_lock(); }

  /// Nothing of ours is under way, so a host MPI call may block without detach().
  bool idle() const noexcept { return workers_.empty(); }
  tally outstanding() const noexcept;
  /// Polls the worker from now on, until it has nothing left to do.
  void enlist(worker& w) noexcept {
    if (!w.listed()) workers_.push_back(w);
  }
  void dismiss(worker& w) noexcept { workers_.erase(w); }

  /// One pass: does what can be done now. `waiting`: the caller makes the next pass at once, so
  /// copies may be held back to be started together with later ones.
  void poll(bool waiting = false) noexcept;
  /// Changes whenever a pass begins. Passes may be nested: a pass may call an error handler of the
  /// program, which may wait for messages. A loop that finds this changed must end, because what it
  /// was looking at may be gone.
  std::uint64_t passes() const noexcept { return passes_; }
  /// Makes the host MPI move its own messages, and hears the bell between nodes.
  void listen() noexcept { peers_.listen(); }
  /// See peer_table::tidy_when_due; takes the lock.
  void tidy_when_due() noexcept {
    const held_lock held = lock();
    peers_.tidy_when_due();
  }
  /// Collective over the ranks of this node that are in the job: waits for all of them, and makes
  /// passes meanwhile. It uses shared memory, because a host MPI's barrier of more ranks than
  /// processors takes a time slice of each rank. `what` names the call in the stall report.
  void meet_node(const char* what) noexcept;
  /// Makes this rank ready to block; the lock is released between passes.
  void detach(held_lock& held) noexcept;
  /// To be called before a call of the program returns. While another thread is blocked in the host
  /// MPI, whatever this call has started is made ready for that (detach). The blocked thread may be
  /// the only one that ever calls MPI again.
  void leave(held_lock& held) noexcept {
    if (held && !idle() && peers_.blocked_here()) detach(held);
  }

  /// Makes passes until `done()`; the lock must be held and is released between them. `what` names
  /// the call in the stall report.
  template <class Done>
  void wait_until(held_lock& held, const char* what, Done&& done) noexcept {
    for (waiter w(what); !done();) {
      poll(true);
      if (done()) return;
      if (held) held.unlock();
      const bool late = w.pause(*this);
      if (threaded_) held.lock();
      if (late) [[unlikely]]
        report(what, w.seconds(), log::level::info);
    }
  }
  /// The same; takes the lock.
  template <class Done>
  void wait_until(const char* what, Done&& done) noexcept {
    held_lock held = lock();
    wait_until(held, what, done);
  }
  /// The same where `done()` needs no lock, or takes the lock itself. Each pass takes it, too.
  /// `late(seconds)` is the stall report.
  template <class Done, class Late>
  void wait_unlocked(const char* what, Done&& done, Late&& late) noexcept {
    for (waiter w(what); !done();) {
      pass_unlocked(w.polls());
      if (w.pause(*this)) late(w.seconds());
    }
  }
  template <class Done>
  void wait_unlocked(const char* what, Done&& done) noexcept {
    wait_unlocked(what, done, [&](double seconds) {
      auto held = lock();
      report(what, seconds, log::level::info);
    });
  }

 private:
  // How a waiting thread spends its time between polls: it spins, then yields, and sleeps if naps
  // are on. It also notices a stall.
  class waiter {
   public:
    explicit waiter(const char* what) noexcept : what_(what) {}
    ~waiter() {
      if (traced_since_ns_ != 0) [[unlikely]]
        trace::record("wait", what_, traced_since_ns_, now_ns(), trace::facts());
    }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    /// Between two polls; true when a report is due. Ends the job after TELPHER_WAIT_TIMEOUT.
    bool pause(progress_engine& e) noexcept;
    std::uint32_t polls() const noexcept { return clock_.polls(); }
    double seconds() const noexcept { return clock_.seconds(); }

   private:
    const char* what_;
    stall_clock clock_;
    std::uint64_t traced_since_ns_ = 0;
  };

  void pass_unlocked(std::uint32_t polls) noexcept;
  void report(const char* what, double seconds, log::level details) noexcept;
  [[noreturn]] void give_up(const char* what, double seconds) noexcept;

  peer_table& peers_;
  bool threaded_ = false;
  bool naps_ = false;
  std::atomic<bool> rested_{false};  // a wait has slept since the last pass
  std::recursive_mutex mutex_;
  linked_list<worker> workers_;
  std::uint64_t passes_ = 0;
};

inline void worker::retire() noexcept {
  const held_lock held = progress_.lock();
  progress_.dismiss(*this);
}

inline made_at_start<progress_engine> the_progress_engine;
inline progress_engine& progress() noexcept {
  return *the_progress_engine;
}

/// A call of the program that may touch messages; `held` is the lock. See progress_engine::leave.
struct visit {
  held_lock held = progress().lock();
  ~visit() { progress().leave(held); }
};

}  // namespace telpher::ticket
