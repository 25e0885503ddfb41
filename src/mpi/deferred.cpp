// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/deferred.hpp"

#include <utility>

#include "host_mpi/error.hpp"
#include "mpi/handles.hpp"
#include "mpi/request_kinds.hpp"

namespace telpher::mpi {

using state = coll::deferred_call::state;

namespace {

// Once it is done on devices, or could not be started in the host MPI.
int end(const coll::deferred_call& d, const host_mpi::kept_comm& errors, MPI_Status* out) noexcept {
  fill_empty(out);
  if (d.outcome() == status::ok) return d.code();
  return host_mpi::fail(errors.owner(), d.name(), d.outcome(), "a collective on devices failed");
}

}  // namespace

// --- non-blocking ---

// What was staged stands in the table under the host MPI's request, which the program never sees.
bool deferred_request::check() noexcept {
  if (call_->now() != state::on_host) return call_->now() == state::done;
  if (!on_host_) on_host_ = remove(call_->native());
  if (!on_host_) on_host_ = std::make_unique<native_send>(call_->native(), memory::buffer());
  return on_host_->check();
}

deferred_request::~deferred_request() {
  if (place_ != MPI_REQUEST_NULL) give_handle(place_);
}

int deferred_request::finish(MPI_Status* out) noexcept {
  const int code = on_host_ ? on_host_->finish(out) : end(*call_, errors_, out);
  if (code == MPI_SUCCESS || !call_->unheard()) return code;
  return host_mpi::raise(errors_.owner(), code);
}

// --- persistent ---

int persistent_collective::start_on_host() noexcept {
  return staged_ ? staged_->start() : pmpi::Start(&native_);
}

int persistent_collective::start() noexcept {
  if (replay) return refuse_start();
  if (const int rc = entry::refuse_if_short(errors_.owner(), "MPI_Start")) return rc;
  auto held = ticket::progress().lock();
  coll::started begun = rounds_->start(held, call_, [this](MPI_Comm, MPI_Request* started) {
    *started = native_;
    return start_on_host();
  });
  if (!begun) return host_mpi::fail(errors_.owner(), "MPI_Start", begun.error(), call_);
  started_ = true;
  round_ = std::move(*begun);
  return round_ ? MPI_SUCCESS : start_on_host();
}

bool persistent_collective::check() noexcept {
  if (!started_ || (round_ && round_->now() == state::done)) return true;
  if (round_ && round_->now() == state::open) return false;
  if (staged_) return staged_->check();
  int flag = 0;
  return host_mpi::look_at(native_, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
}

int persistent_collective::finish(MPI_Status* out) noexcept {
  const bool was_active = started_;
  started_ = false;
  fill_empty(out);
  if (in_stream) return refuse_wait();
  if (!was_active) return MPI_SUCCESS;
  const auto round = std::move(round_);
  if (round && round->now() == state::done) return end(*round, errors_, out);
  return staged_ ? staged_->finish(out) : pmpi::Wait(&native_, out);
}

void persistent_collective::finish_quietly() noexcept {
  const auto round = std::move(round_);
  if (!std::exchange(started_, false) || (round && round->now() == state::done)) return;
  if (staged_)
    staged_->finish_quietly();
  else
    pmpi::Wait(&native_, MPI_STATUS_IGNORE);
}

bool persistent_collective::abandon() noexcept {
  if (started_) return false;
  pmpi::Request_free(&native_);
  return true;
}

}  // namespace telpher::mpi
