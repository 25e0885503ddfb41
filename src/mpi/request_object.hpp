// SPDX-License-Identifier: BSD-3-Clause
// What stands behind a request that we must complete ourselves, and the table from the program's
// request handles to it. Every handle is a request of the host MPI: a native one (sends of host
// bytes, staged collectives), a generalized request (handles.hpp: sends by ticket, receives, pairs,
// deferred collectives), or an inactive persistent request that holds a place. All functions under
// the progress lock.
#pragma once

#include <memory>

#include "host_mpi/host_mpi.hpp"
#include "stream/settle.hpp"
#include "ticket/progress.hpp"

namespace telpher::ticket {
class receive;
}

namespace telpher::mpi {

class inbox_request;
class persistent_request;

class request_object {
 public:
  explicit request_object(bool left_to_host = false) noexcept : left_to_host_(left_to_host) {}
  request_object(const request_object&) = delete;
  request_object& operator=(const request_object&) = delete;
  virtual ~request_object() = default;

  /// Looks whether it is done, out of turn. True if so.
  virtual bool check() noexcept = 0;
  /// The same for a caller that stays until it is done and has taken the object from the table:
  /// the request may end with it.
  virtual bool conclude() noexcept { return check(); }
  /// For who waits for several: the receive whose message is to come, or null.
  virtual ticket::receive* receiving() noexcept { return nullptr; }
  /// Once done: frees what the host MPI holds, fills the status (may be MPI_STATUS_IGNORE) and
  /// returns the MPI error code; the error handler has been called.
  virtual int finish(MPI_Status* out) noexcept = 0;
  /// Once done, of a request that the program freed: nobody hears of errors.
  virtual void finish_quietly() noexcept { finish(MPI_STATUS_IGNORE); }
  /// Once done: fills the status only.
  virtual void fill(MPI_Status* out) noexcept = 0;
  virtual void cancel() noexcept {}
  /// The program freed its request while it was under way. True if the object frees
  /// itself; else it is kept until done and then finished.
  virtual bool abandon() noexcept { return false; }

  virtual MPI_Request request() const noexcept = 0;
  /// Once done and out of the table, before finish: the host MPI ends the handle (handles.hpp).
  virtual void leave_handle() noexcept {}
  virtual bool persistent() const noexcept { return false; }
  /// A native send of host bytes: hosts give one shared handle to all that are complete at once.
  virtual bool may_share_handle() const noexcept { return false; }
  /// Of a call that enqueues: the stream, in whose order it may be waited for.
  virtual bool enqueued_in([[maybe_unused]] void*& native) const noexcept { return false; }
  /// The same, of a message through an inbox; else null.
  virtual inbox_request* through_inbox() noexcept { return nullptr; }
  /// A persistent send or receive, or null.
  virtual persistent_request* persistent_message() noexcept { return nullptr; }
  /// What its start uses, where a stream may still write it.
  virtual stream::used used_by_start() const noexcept { return {}; }
  /// Starts a persistent request that is not active. Returns the MPI error code.
  virtual int start() noexcept { return MPI_ERR_REQUEST; }
  /// Persistent requests that are not started are ignored by the completing calls.
  virtual bool active() const noexcept { return true; }
  /// A persistent request that is inactive, or that the host MPI runs alone. Calls that complete
  /// requests leave it to the host MPI.
  bool left_to_host() const noexcept { return left_to_host_; }

 protected:
  /// Of an object that is in the table.
  void leave_to_host(bool leave) noexcept;

 private:
  bool left_to_host_;
};

/// Fills the status of an inactive or null request.
void fill_empty(MPI_Status* out) noexcept;

/// The table. An object belongs to it from `enter` to `remove`.
void enter(std::unique_ptr<request_object> op) noexcept;
request_object* find(MPI_Request request) noexcept;
std::unique_ptr<request_object> remove(MPI_Request request) noexcept;
/// The object, or null if it is left to the host MPI.
request_object* find_open(MPI_Request request) noexcept;
/// The same. Unless it is persistent it has left the table and is the caller's.
request_object* take_for_waiting(MPI_Request request) noexcept;
/// How many the table has, and of these, how many are not left to the host MPI.
std::size_t entered_requests() noexcept;
inline std::size_t open_count = 0;
inline std::size_t open_requests() noexcept {
  return open_count;
}
inline void request_object::leave_to_host(bool leave) noexcept {
  if (leave != left_to_host_) open_count += leave ? std::size_t{0} - 1 : 1;
  left_to_host_ = leave;
}

/// An abandoned one: finished by sweep() once it is done.
void keep_abandoned(std::unique_ptr<request_object> op) noexcept;
inline std::size_t abandoned_count = 0;
inline std::size_t abandoned() noexcept {
  return abandoned_count;
}
[[gnu::cold, gnu::noinline]] void sweep_slow() noexcept;
inline void sweep() noexcept {
  if (abandoned_count > 0) [[unlikely]]
    sweep_slow();
}

}  // namespace telpher::mpi
