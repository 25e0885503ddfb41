// SPDX-License-Identifier: BSD-3-Clause
// A non-blocking call from its initiation on, wherever it runs: among the devices of a node,
// between nodes, or in the host MPI, where it may start later than the program asked for it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/status.hpp"
#include "host_mpi/host_mpi.hpp"
#include "ticket/progress.hpp"

namespace telpher::coll {

namespace exchange {
class matching;
}

/// Initiates a call in the host MPI, on the program's communicator or another with the same ranks.
using host_form = std::function<int(MPI_Comm, MPI_Request*)>;

class deferred_call {
 public:
  enum class state : std::uint8_t { open, on_host, done };

  virtual ~deferred_call() = default;
  state now() const noexcept { return state_; }
  /// Of the initiation in the host MPI.
  int code() const noexcept { return code_; }
  /// The call runs on our communicator, so the program's error handler is not called. The caller
  /// must raise the error.
  bool unheard() const noexcept { return unheard_; }
  /// Of the run on devices.
  status outcome() const noexcept { return outcome_; }
  const char* name() const noexcept { return name_; }
  /// The host MPI's request, once.
  MPI_Request native() const noexcept { return native_; }

 protected:
  explicit deferred_call(const char* name) noexcept : name_(name) {}
  deferred_call(const deferred_call&) = delete;
  deferred_call& operator=(const deferred_call&) = delete;

  /// `ours`: a communicator that the program does not know.
  void start_on_host(const host_form& host, MPI_Comm on, bool ours) noexcept {
    unheard_ = ours;
    code_ = host(on, &native_);
    state_ = code_ == MPI_SUCCESS ? state::on_host : state::done;
  }
  void end(status s) noexcept {
    outcome_ = s;
    state_ = state::done;
  }

 private:
  const char* name_;
  state state_ = state::open;
  bool unheard_ = false;
  int code_ = MPI_SUCCESS;
  status outcome_ = status::ok;
  MPI_Request native_ = MPI_REQUEST_NULL;
};

/// A call that was begun. Null: it is the host MPI's from the start. An error: it was not begun.
using started = result<std::shared_ptr<deferred_call>>;

/// What a persistent collective has of its own, so that ranks may start such requests in any order.
/// Gone when the request has been freed at this rank.
class persistent_rounds {
 public:
  persistent_rounds() = default;
  persistent_rounds(const persistent_rounds&) = delete;
  persistent_rounds& operator=(const persistent_rounds&) = delete;
  virtual ~persistent_rounds() = default;

  /// Starts a round. `host` starts it in the host MPI, if the ranks leave it to that, now or later.
  /// Null: the caller starts it there now.
  virtual started start(ticket::held_lock& held, const char* name, host_form&& host) noexcept = 0;
  /// Begins the agreement on a replay, while no round is under way. Collective. Null: there is
  /// none, at all ranks alike.
  virtual std::unique_ptr<exchange::matching> match(const char* name) noexcept = 0;
};

}  // namespace telpher::coll
