// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking collectives that may run among the devices. Initiation is local: it puts the call
// into its communicator's queue; the engine's progress moves it. The head of a queue alone takes
// part in the agreement (agreement.hpp, deferred calls), so calls of a communicator run one after
// the other, in the order of their initiation, in one workspace.
//
//   queued -> offered -> decided for the devices -> kernel runs -> done
//      \          \------- the host's: started in the host MPI as a staged call -> on_host
//       \-----------------/
//
// What keeps the host MPI's order: it sees the calls of a communicator that are its own in the
// order of their initiation, at every rank. So before any call goes to it, those queued before it
// that are not decided go there first (leave_to_host). A call that is decided may still turn out to
// be the host's until all have voted; what comes behind it waits for that (make_way): all have come
// to it. Calls that run among the devices do so at all ranks, and the host MPI never hears of them.
//
// A rank about to block in the host MPI leaves its undecided calls there and ends the decided ones:
// for these all have come, and whoever is needed is in a call of MPI that moves them, or will be.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "coll/deferred_call.hpp"
#include "coll/exchange/arguments.hpp"
#include "coll/exchange/attempt.hpp"
#include "coll/exchange/kept_arrays.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {

class communicator;

/// One call. The program's request and the queue hold it.
class deferred final : public deferred_call {
 public:
  /// `host` initiates the call in the host MPI, staged. It has the arrays that the host MPI may
  /// read until the call has ended.
  deferred(const char* call, arguments&& a, host_form&& host);
  ~deferred() override;

 private:
  friend class call_queue;
  std::uint64_t number_ = 0;
  arguments arguments_;
  host_form host_;
  std::unique_ptr<attempt> attempt_;
};

/// A communicator's calls that are not on the host and have not ended. Under the engine's lock.
class call_queue final : public ticket::worker {
 public:
  explicit call_queue(communicator& of) noexcept : c_(of) {}
  ~call_queue() override;

  bool empty() const noexcept { return calls_.empty(); }
  /// Adds the communicator's next call and does what can be done at once; `host` initiates it in
  /// the host MPI. Null: the caller does that now.
  template <class Host>
  std::shared_ptr<deferred> add(ticket::held_lock& held, const char* call, arguments&& a,
                                const Host& host) noexcept {
    try {
      if (admits(a)) {
        host_form own = kept(host, a);
        return enter(std::make_shared<deferred>(call, std::move(a), std::move(own)));
      }
    } catch (const std::bad_alloc&) {
    }
    pass_next(held);
    return nullptr;
  }
  /// The next call is the host MPI's: it may be initiated there when this returns.
  void pass_next(ticket::held_lock& held) noexcept;
  /// Starts in the host MPI what is not decided, before a call that goes there.
  void make_way(ticket::held_lock& held) noexcept;

  bool advance() noexcept override;
  bool detach() noexcept override;
  void report(log::level at) const noexcept override;

 private:
  bool admits(const arguments& a) const noexcept;
  std::shared_ptr<deferred> enter(std::shared_ptr<deferred> made);
  bool leave_to_host() noexcept;
  attempt::outcome step(deferred& d) noexcept;
  static void end(deferred& d) noexcept;
  void start_on_host(deferred& d) const noexcept;

  communicator& c_;
  std::deque<std::shared_ptr<deferred>> calls_;
};

}  // namespace telpher::coll::exchange
