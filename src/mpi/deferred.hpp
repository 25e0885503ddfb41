// SPDX-License-Identifier: BSD-3-Clause
// Collectives that may run among the devices or between nodes: which way is tried first, and
// non-blocking and persistent ones as requests. For a non-blocking call the program holds a
// generalized request, wherever the call runs in the end. For a persistent collective it holds the
// host MPI's own persistent request, which is started only in the rounds that the host MPI runs.
#pragma once

#include "coll/between/calls.hpp"
#include "coll/exchange/exchange.hpp"
#include "host_mpi/error.hpp"
#include "mpi/entry.hpp"
#include "mpi/handles.hpp"
#include "mpi/stream_request.hpp"

namespace telpher::mpi {

/// A call that coll::exchange or coll::between moves, and the host MPI's operation once it has been
/// left to it.
class deferred_request final : public request_object {
 public:
  deferred_request(std::shared_ptr<coll::deferred_call> call, MPI_Comm comm,
                   MPI_Request place) noexcept
      : call_(std::move(call)), errors_(comm), place_(place) {}
  ~deferred_request() override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  MPI_Request request() const noexcept override { return place_; }
  void leave_handle() noexcept override { place_ = MPI_REQUEST_NULL; }

 private:
  std::shared_ptr<coll::deferred_call> call_;
  host_mpi::kept_comm errors_;
  MPI_Request place_;
  std::unique_ptr<request_object> on_host_;
};

/// A persistent collective: each start is the next deferred call of its rounds.
class persistent_collective final : public stream_request {
 public:
  /// `staged` is what staging attached to `native`, or null.
  persistent_collective(const char* call, MPI_Comm comm,
                        std::unique_ptr<coll::persistent_rounds> rounds, MPI_Request native,
                        std::unique_ptr<request_object> staged) noexcept
      : stream_request(comm),
        call_(call),
        rounds_(std::move(rounds)),
        native_(native),
        staged_(std::move(staged)) {}
  stream::used used_by_start() const noexcept override { return {errors_.get()}; }
  int start() noexcept override;
  bool check() noexcept override;
  int finish(MPI_Status* out) noexcept override;
  void finish_quietly() noexcept override;
  void fill(MPI_Status* out) noexcept override { fill_empty(out); }
  bool abandon() noexcept override;
  MPI_Request request() const noexcept override { return native_; }
  bool persistent() const noexcept override { return true; }
  bool active() const noexcept override { return started_ || in_stream; }

  /// Begins the agreement on a replay. Collective; null: there is none, at all ranks alike.
  std::unique_ptr<coll::exchange::matching> match() noexcept { return rounds_->match(call_); }
  const memory::place* matched_at() const noexcept override {
    return replay ? &replay->where() : nullptr;
  }

  std::unique_ptr<coll::exchange::kernel_replay> replay;

 private:
  int start_on_host() noexcept;

  const char* call_;
  std::unique_ptr<coll::persistent_rounds> rounds_;
  MPI_Request native_;
  std::unique_ptr<request_object> staged_;
  std::shared_ptr<coll::deferred_call> round_;  // null: the host's from the start
  bool started_ = false;
};

/// A blocking call, among the devices of a node or between nodes. False: it is to be staged, under
/// the time that `staged` takes.
template <class Described>
bool call_collective(const char* call, MPI_Comm comm, const Described& what, int* code,
                     coll::stopwatch* staged) noexcept {
  return coll::exchange::call_blocking(call, comm, what, code) ||
         coll::between::call_blocking(call, comm, what, code, staged);
}

/// `make` makes the host MPI's persistent request.
template <class Described, class Make>
int init_collective(const char* call, MPI_Comm comm, const Described& what, const Make& make,
                    MPI_Request* request) noexcept {
  if (const int code = make(comm, request); code != MPI_SUCCESS || !coll::exchange::enabled())
    return code;
  auto rounds = coll::between::persistent(call, comm, what);
  if (!rounds) rounds = coll::exchange::persistent(comm, what);
  if (!rounds) return MPI_SUCCESS;
  auto held = ticket::progress().lock();
  enter(std::make_unique<persistent_collective>(call, comm, std::move(rounds), *request,
                                                remove(*request)));
  return MPI_SUCCESS;
}

/// `host` initiates the call in the host MPI.
template <class Described, class Host>
int start_collective(const char* call, MPI_Comm comm, const Described& what, const Host& host,
                     MPI_Request* request) noexcept {
  if (const int rc = entry::refuse_if_short(comm, call)) return rc;
  coll::started crossing = coll::between::defer(call, comm, what, host);
  if (!crossing) return host_mpi::fail(comm, call, crossing.error(), "to initiate it");
  std::shared_ptr<coll::deferred_call> deferred = std::move(*crossing);
  if (!deferred) deferred = coll::exchange::defer(call, comm, what, host);
  if (!deferred) return host(comm, request);
  auto held = ticket::progress().lock();
  return give_request<deferred_request>(request, std::move(deferred), comm);
}

}  // namespace telpher::mpi
