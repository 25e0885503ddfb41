// SPDX-License-Identifier: BSD-3-Clause
// The non-blocking calls of a communicator. Initiation is local: it puts the call into the queue,
// which the progress engine moves. The head of the queue alone takes part in the agreement
// (agreement.hpp, non-blocking calls). So calls of a communicator run one after the other, in the
// order of their initiation, in one workspace.
//
//   queued -> proposed -> decided for the devices -> kernel runs -> done
//      \          \------- the host's: started in the host MPI as a staged call -> on_host
//       \-----------------/
//
// Order. Every rank must give the host MPI its calls of a communicator in the order of their
// initiation. So the undecided calls in the queue go to the host MPI before a call behind them does
// (drain_to_host). A decided call can still become the host's, until all ranks have voted. A call
// behind it that goes to the host MPI waits for these votes. They come, because all ranks have come
// to the decided call. Calls among the devices run there at all ranks: the host MPI has none.
//
// A rank about to block in the host MPI leaves its undecided calls to it, and ends the decided ones
// first. All ranks have come to these, and each rank that is needed is, or will be, in a call of
// MPI that moves them.
#pragma once

#include <deque>
#include <memory>
#include <new>

#include "coll/exchange/call.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll::exchange {

/// A communicator's calls that are not on the host and have not ended. Under the progress lock.
class call_queue final : public ticket::worker {
 public:
  explicit call_queue(communicator& of) noexcept : worker(ticket::progress()), c_(of) {}
  ~call_queue() override { retire(); }

  bool empty() const noexcept { return calls_.empty(); }
  /// Adds the communicator's next call and does what can be done at once; `host` initiates it in
  /// the host MPI. Null: the caller does that now.
  template <class Host>
  std::shared_ptr<call> add(ticket::held_lock& held, const char* name, arguments&& a,
                            const Host& host) noexcept {
    try {
      if (admits(a)) {
        host_form own = kept(host, a);
        return enter(std::make_shared<call>(name, c_, std::move(a), call::form::nonblocking,
                                            std::move(own)));
      }
    } catch (const std::bad_alloc&) {
    }
    decline_next(held);
    return nullptr;
  }
  /// The next call is the host MPI's: it may be initiated there when this returns.
  void decline_next(ticket::held_lock& held) noexcept;
  /// Starts in the host MPI what is not decided, before a call that goes there.
  void drain_to_host(ticket::held_lock& held) noexcept;

  bool advance() noexcept override;
  bool detach() noexcept override;
  void report(log::level at) const noexcept override;

 private:
  bool admits(const arguments& a) const noexcept;
  std::shared_ptr<call> enter(std::shared_ptr<call> made);
  bool try_drain_to_host() noexcept;
  void leave_to_host(call& c) noexcept;

  communicator& c_;
  std::deque<std::shared_ptr<call>> calls_;
};

}  // namespace telpher::coll::exchange
