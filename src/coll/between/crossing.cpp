// SPDX-License-Identifier: BSD-3-Clause
#include "coll/between/crossing.hpp"

#include <cstdio>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "path/path.hpp"

namespace telpher::coll::between {

// --- one call ---

void crossing::end(status s) noexcept {
  outcome_ = s;
  runs_.reset();
  image_in_ = {};
  image_out_ = {};
  now_ = stage::done;
}

/// Also if the host MPI fails: nothing more can come of it.
bool crossing::ended(MPI_Request& r) noexcept {
  int complete = 0;
  const int code = pmpi::Test(&r, &complete, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) end(status::host_mpi_error);
  return code == MPI_SUCCESS && complete;
}

void crossing::begin() noexcept {
  now_ = stage::gathering;
  if (room_.abandoned())
    end(status::peer_lost);
  else if (pmpi::Ibarrier(room_.wire, &request_) != MPI_SUCCESS)
    end(status::host_mpi_error);
}

void crossing::promise(bool yes) noexcept {
  mine_ = yes;
  now_ = stage::deciding;
  if (pmpi::Iallreduce(&mine_, &all_, 1, MPI_INT, MPI_MIN, room_.wire, &request_) != MPI_SUCCESS)
    end(status::host_mpi_error);
}

void crossing::start() noexcept {
  now_ = stage::running;
  try {
    runs_ = std::make_unique<runner>(room_, std::move(call_));
  } catch (const std::bad_alloc&) {
    TELPHER_ERROR("%s: no memory for its schedule, while the other ranks run theirs", name_);
    pmpi::Abort(room_.wire, 1);
  }
}

status crossing::call_host() noexcept {
  const void* input = host_.in_place ? MPI_IN_PLACE : call_.input.at;
  void* output = call_.output.at;
  if (!host_.in_place && call_.input.on_device()) {
    auto image = memory::buffer::host(host_.bytes, call_.input.where.owner);
    TELPHER_TRY(image);
    TELPHER_TRY(memory::copy_and_wait(call_.input.where, image->data(), input, host_.bytes));
    image->filled();
    image_in_ = std::move(*image);
    input = image_in_.data();
  }
  if (call_.output.on_device()) {
    auto image = memory::buffer::host(host_.bytes, call_.output.where.owner);
    TELPHER_TRY(image);
    if (host_.in_place)
      TELPHER_TRY(memory::copy_and_wait(call_.output.where, image->data(), output, host_.bytes));
    image->filled();
    image_out_ = std::move(*image);
    output = image_out_.data();
  }
  return pmpi::Iallreduce(input, output, host_.count, host_.type, host_.op, room_.wire,
                          &request_) == MPI_SUCCESS
             ? status::ok
             : status::host_mpi_error;
}

void crossing::start_by_host() noexcept {
  now_ = stage::by_host;
  vote_ = std::exchange(request_, MPI_REQUEST_NULL);
  outcome_ = call_host();
}

void crossing::advance() noexcept {
  if (now_ == stage::queued) begin();
  // While another thread is blocked in the host MPI, nobody may come back to move the call.
  if (now_ == stage::gathering && ticket::peers().own().header().blocked.load() != 0)
    static_cast<void>(detach());
  if (now_ == stage::gathering && ended(request_)) promise(host_.able);
  if (now_ == stage::deciding && ended(request_)) all_ == 1 ? start() : start_by_host();
  if (now_ == stage::running && (runs_->advance(), runs_->done())) {
    const status s = runs_->outcome();
    if (!failed(s)) path::count(path::kind::coll_levels, host_.bytes);
    end(s);
  }
  if (now_ != stage::by_host || !ended(gathered_) || !ended(vote_) || !ended(request_)) return;
  status s = outcome_;
  if (!failed(s) && image_out_)
    s = memory::copy_and_wait(call_.output.where, call_.output.at, image_out_.data(), host_.bytes);
  end(s);
}

bool crossing::detach() noexcept {
  if (now_ == stage::queued) begin();
  if (now_ != stage::gathering) return now_ == stage::by_host || done();
  gathered_ = std::exchange(request_, MPI_REQUEST_NULL);
  promise(false);
  if (!done()) start_by_host();
  return true;
}

// --- the queue ---

crossing_queue::~crossing_queue() {
  auto held = ticket::progress().lock();
  ticket::progress().dismiss(*this);
}

void crossing_queue::add(std::shared_ptr<crossing> c) {
  by_host_.reserve(by_host_.size() + waiting_.size() + 1);
  waiting_.push_back(std::move(c));
  ticket::progress().enlist(*this);
  advance();
}

/// Whether the head needs the room no more; it has left the queue then.
bool crossing_queue::pop_head() noexcept {
  const std::shared_ptr<crossing> head = waiting_.front();
  const bool by_host = head->now_ == crossing::stage::by_host;
  if (!by_host && !head->done()) return false;
  if (by_host) by_host_.push_back(head);  // there is room, see add
  waiting_.pop_front();
  return true;
}

bool crossing_queue::advance() noexcept {
  for (const auto& c : by_host_) c->advance();
  std::erase_if(by_host_, [](const auto& c) { return c->done(); });
  while (!waiting_.empty()) {
    waiting_.front()->advance();
    if (!pop_head()) break;
  }
  return !settled();
}

bool crossing_queue::detach() noexcept {
  while (!waiting_.empty()) {
    static_cast<void>(waiting_.front()->detach());
    if (!pop_head()) return false;
  }
  return true;
}

void crossing_queue::report(log::level at) const noexcept {
  const char* const name = settled()          ? "no collective"
                           : waiting_.empty() ? by_host_.front()->name()
                                              : waiting_.front()->name();
  log::write(at, TELPHER_SUBSYSTEM, "  %s between nodes, %zu behind it, %zu with the host MPI",
             name, waiting_.empty() ? 0 : waiting_.size() - 1, by_host_.size());
}

}  // namespace telpher::coll::between
